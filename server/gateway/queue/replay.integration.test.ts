import { describe, expect, it } from "vitest";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { RecordedRequest } from "@/solver/cluster/recordedWorld";
import { replayRun } from "@/solver/cluster/replayRun";
import type { GateDocument } from "@/solver/gates/gateDocument";
import type { Random } from "@/solver/numeric/random";
import type { CascadePolicy } from "@/solver/plan/plan";
import type { JustInTimePolicy, PlaceDocument, PolicyDocument, SlackPolicy } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { Policy } from "@/solver/policies/core/policy";
import { decided, type RecordedEngines, recorded, recordRun } from "../testing/recordedRuns";
import type { TestGateway } from "../testing/testGateway";
import { longText, shortText, testConfigurations } from "../testing/testPredictors";
import { justInTime, pinned, voting } from "../testing/testRounds";

const goesToLargest = (policy: PolicyDocument): boolean => policy.kind === "cascade" && policy.judge.whenDown === "largest";
const models = ["small", "medium", "large"];
const requests = 300;
const leastLoad: PlaceDocument = { kind: "least-load" };

const cascade: CascadePolicy = {
  kind: "cascade",
  stages: models.map((model) => ({ model })),
  thresholds: [60, 40],
  judge: { model: "weir-judge", secondsPerCall: 0.01, usdPerCall: 0 },
  order: { kind: "fcfs" },
  place: leastLoad,
  approvedRanges: { thresholds: [0, 1].map(() => ({ min: 0, max: 100 })) },
};
const graced: CascadePolicy = { ...cascade, grace: { waiting: 2, calm: 1, holdSeconds: 1, pointsPerSecond: 1 } };
const slack: SlackPolicy = {
  kind: "slack",
  models: models.map((model, index) => ({
    model,
    decodeSecondsPerToken: 0.01 * (index + 1),
    maxBatchSize: 3,
    confidence: 0.3 + 0.2 * index,
  })),
  tau: 0.5,
  deltaScore: 0.1,
  floorSeconds: 1,
  order: { kind: "stjf", agingThreshold: 20 },
  place: { kind: "least-load", affinity: { ratio: 0.5 } },
  approvedRanges: { tau: { min: 0, max: 1 }, deltaScore: { min: 0, max: 1 } },
};

const predictor = testConfigurations(voting, models);
const rounds = (selection: JustInTimePolicy["selection"]): JustInTimePolicy =>
  justInTime([{ workflow: voting, predictor: predictor.hash }, { workflow: pinned }], { selection });

/** The smallest probability of an answer's tokens as it is. */
const testGate: GateDocument = { kind: "confidence", measure: "minimum", calibration: { raw: [0, 100], calibrated: [0, 100] } };
const stagesOf = (names: readonly string[]) => names.map((model) => ({ model }));
const singles = { kind: "cascade", stages: stagesOf(["small", "large"]), thresholds: [60], judge: cascade.judge } as const;
/** Rounds in which requests of no declared workflow have a judged cascade of their own. */
const joint = (selection: JustInTimePolicy["selection"]): JustInTimePolicy => ({
  ...rounds(selection),
  singles: { ...singles, thresholds: [60], stages: [...singles.stages], approvedRanges: { thresholds: [{ min: 0, max: 100 }] } },
});

const scoredAnswers = voting.agents
  .slice(0, -1)
  .flatMap(({ name: agent }) => ["small", "medium"].map((model) => ({ agent, model, rightIfAccurate: 0.95, rightIfNot: 0.05 })));
/** The same, in which scores of agents' answers change which configurations count as accurate. */
const scored: JustInTimePolicy = {
  ...joint({ kind: "beam", width: 4 }),
  workflows: [{ workflow: voting, predictor: predictor.hash, answers: scoredAnswers }, { workflow: pinned }],
  callGates: ["small", "medium"].map((model) => ({ model, gate: testGate, prior: 0.5 })),
};

/** A policy that decides differently. */
function otherThan(policy: PolicyDocument): PolicyDocument {
  if (policy.kind === "just-in-time") {
    const { singles: _, callGates: __, ...chosen } = policy;
    const { selection } = policy;
    // Prices alone make a difference.
    if (selection.kind === "worth" && selection.price !== undefined) return { ...policy, selection: { ...selection, price: undefined } };
    return { ...chosen, workflows: [] };
  }
  if (policy.place.kind === "prefix") return { ...policy, place: leastLoad };
  return { ...policy, order: policy.order.kind === "fcfs" ? { kind: "sjf", agingThreshold: 50 } : { kind: "fcfs" } };
}

/** Memory for far more than all requests together need. */
const roomy: RecordedEngines = { kvTokens: 16_000_000, maxInFlight: 2, timeScale: 4 };

const policies: readonly (readonly [string, PolicyDocument, RecordedEngines?])[] = [
  ["a cascade in the order of coming at the least loaded replica", cascade],
  ["a cascade by the prefixes that engines hold", { ...cascade, place: { kind: "prefix" } }],
  [
    "a cascade by shortest job with aging, in turn",
    { ...cascade, order: { kind: "sjf", agingThreshold: 8 }, place: { kind: "round-robin" } },
  ],
  [
    "a cascade that starts by router scores, with feedback over programs",
    {
      ...cascade,
      order: { kind: "mlfq", quantaSeconds: [0.01, 0.05], agingThreshold: 15 },
      directStart: { below: 50, router: { kind: "modelled", auc: 0.7 } },
    },
  ],
  [
    "a cascade that goes to the largest while the judge is down, which it is in the second half",
    { ...cascade, judge: { ...cascade.judge, whenDown: "largest" } },
  ],
  ["a cascade with grace, whose thresholds overload lowers and that return", graced, { ...roomy, timeScale: 50, laterMs: 40 }],
  ["slack dispatch by shortest total job, programs at their replicas", slack],
  [
    "a cascade by deadlines that clients state or that are implied",
    { ...cascade, order: { kind: "deadline", impliedSeconds: 0.2, agingThreshold: 8 }, place: { kind: "round-robin" } },
  ],
  ["a fixed model at the least loaded replica", { kind: "fixed", model: "small", order: { kind: "fcfs" }, place: leastLoad }],
  [
    "a fixed model by what workflows taught, packed into memory that has room for all",
    { kind: "fixed", model: "small", order: { kind: "workflow", agingThreshold: 50 }, place: { kind: "time-slots" } },
  ],
  [
    "a fixed model packed into memory that few fit, so that some are passed over and replicas are kept for them",
    { kind: "fixed", model: "small", order: { kind: "workflow", agingThreshold: 50 }, place: { kind: "time-slots" } },
    // Slots that do not pass during the run: a replay does not know when a driver was woken without an event.
    { kvTokens: 704, maxInFlight: 8, timeScale: 0.001 },
  ],
  ["models chosen just in time in rounds of a beam search, by predicted configurations", rounds({ kind: "beam", width: 4 })],
  ["models chosen just in time as programs come, by the load of the moment", rounds({ kind: "quickest", when: "arrival" })],
  ["rounds of a beam search beside a judged cascade for single requests", joint({ kind: "beam", width: 4 })],
  ["rounds of a beam search in which scores of agents' answers change what counts as accurate", scored],
  ["rounds by worth beside a judged cascade for single requests", joint({ kind: "worth", rightSeconds: 5, delayWeight: 1 })],
  [
    "rounds by worth at prices of tokens that the backlog corrects",
    joint({
      ...{ kind: "worth", rightSeconds: 5, delayWeight: 1 },
      price: {
        models: [
          { model: "small", secondsPerToken: 0.002, waiting: 2 },
          { model: "large", secondsPerToken: 0.02, waiting: 4 },
        ],
        dampingSeconds: 0.1,
      },
    }),
  ],
];

/** A request with a session, a router's scores and predictions, or without them. */
function anyRequest(random: Random) {
  const headers: Record<string, string> = {};
  if (random.next() < 0.4) headers["x-session-id"] = String(random.int(20));
  const { "x-session-id": who = "it" } = headers;
  if (random.next() < 0.5) headers["x-weir-router-scores"] = models.map((model) => `${model}=${random.int(101)}`).join(",");
  if (random.next() < 0.8) headers["x-weir-agent"] = `agent-${random.int(4)}`;
  if (random.next() < 0.3) headers["x-weir-program-tokens"] = String(1 + random.int(2000));
  if (random.next() < 0.3) headers["x-weir-deadline-seconds"] = String(0.01 + random.int(100) / 100);
  if (random.next() < 0.8) {
    const { name, agents } = random.next() < 0.7 ? voting : pinned;
    headers["x-weir-workflow"] = name;
    headers["x-weir-stage"] = agents[random.int(agents.length)]?.name ?? "";
  }
  const body = {
    model: "cascade/test",
    messages: [{ role: "user", content: random.next() < 0.5 ? shortText(who) : `${longText(who)} ${"word ".repeat(random.int(300))}` }],
    stream: random.next() < 0.3,
    ...(random.next() < 0.6 && { max_tokens: 1 + random.int(500) }),
  };
  return { headers, body };
}

/** Requests one after another, at times together. */
async function load({ post }: TestGateway, random: Random): Promise<void> {
  const answers = [];
  for (let request = 0; request < requests; request += 1) {
    const { headers, body } = anyRequest(random);
    answers.push(post("/v1/chat/completions", body, headers).then((answer) => answer.text()));
    if (random.next() < 0.05) await new Promise((resolve) => setTimeout(resolve, random.int(40)));
  }
  await Promise.all(answers);
}

/** The policy, and the thresholds with which its decisions on each request compared, of those that overload had lowered. */
function withLowered(policy: Policy, requests: number) {
  const lowered: { readonly stage: number; readonly inForce: number }[][] = Array.from({ length: requests }, () => []);
  const decide: Policy["decide"] = (view) => {
    const actions = policy.decide(view);
    for (const action of actions) {
      const { stage, inForce } = ("grace" in action ? action.grace : undefined) ?? {};
      if (stage !== undefined && inForce !== undefined) lowered[Number(action.workId)]?.push({ stage, inForce });
    }
    return actions;
  };
  return { policy: { ...policy, decide }, lowered };
}

/** Requests without a program that a later one went before. */
function overtaken(decisions: readonly Decision[]): number {
  const alone = decisions.flatMap(({ program, stages: [first] }) => (program === undefined && first?.at !== undefined ? [first.at] : []));
  return alone.filter((one) => alone.some((later) => later.queued > one.queued && later.dispatched < one.dispatched)).length;
}

describe("a recorded run of the gateway, replayed by the simulator's driver", () => {
  const cases = policies.map(([name, policy, engines]) => [name, policy, engines ?? roomy] as const);

  it.each(cases)("has the same decisions under %s", async (_, policy, engines) => {
    const { config, decisions } = await recordRun({ policy, engines, requests, predictor, load });
    const { kvTokens } = engines;
    expect(decisions).toHaveLength(requests);
    const replayOf = (document: PolicyDocument, load: readonly RecordedRequest[]) =>
      replayRun(buildPolicy(document), { replicas: config.replicas.map((replica) => ({ ...replica, kvTokens })), requests: load });
    const replay = (document: PolicyDocument) => replayOf(document, decisions.map(recorded(policy)));
    expect(replay(policy)).toEqual(decisions.map(decided(policy)));
    // Conditions for a meaningful comparison: work waited, and another policy decides differently.
    const startReasons = new Set(decisions.map(({ startReason }) => startReason));
    expect(startReasons.has("judge-unavailable")).toBe(goesToLargest(policy));
    const waited = decisions.filter(({ stages }) => stages.some(({ at }) => at!.dispatched > at!.queued));
    expect(waited.length).toBeGreaterThan(requests / 5);
    if (engines.kvTokens < roomy.kvTokens) expect(overtaken(decisions)).toBeGreaterThan(requests / 20);
    if (policy.kind === "just-in-time") {
      expect(new Set(decisions.flatMap(({ stages }) => stages.map(({ model }) => model)))).toEqual(new Set(models));
      expect(decisions.filter(({ configurations }) => (configurations?.accurate ?? 0) > 1).length).toBeGreaterThan(requests / 20);
    }
    if (policy === graced) {
      const { grace: _, ...plain } = graced;
      const { policy: built, lowered } = withLowered(buildPolicy(policy), requests);
      replayRun(built, { replicas: config.replicas, requests: decisions.map(recorded(policy)) });
      const recordedLowered = decisions.map(({ stages }) =>
        stages.flatMap(({ model, threshold, plannedThreshold }) =>
          plannedThreshold === undefined ? [] : [{ stage: models.indexOf(model), inForce: threshold }],
        ),
      );
      expect(lowered).toEqual(recordedLowered);
      const thresholds = new Set(recordedLowered.flat().map(({ inForce }) => inForce));
      expect(thresholds.size).toBeGreaterThan(3);
      expect(replay(plain)).not.toEqual(replay(policy));
    }
    if (policy.kind === "just-in-time" && policy.callGates !== undefined) {
      const without = decisions.map(recorded(policy)).map((request) => ({
        ...request,
        visits: request.visits.map((visit) => ({ ...visit, judgedScore: visit.judgedSeconds === null ? null : 50 })),
      }));
      const calls = decisions.filter(({ stages }) => stages.some(({ reason }) => reason === "scored-for-later-agents"));
      expect(calls.length).toBeGreaterThan(requests / 10);
      expect(replayOf(policy, without)).not.toEqual(replay(policy));
    }
    expect(replay(otherThan(policy))).not.toEqual(decisions.map(decided(policy)));
  });
});
