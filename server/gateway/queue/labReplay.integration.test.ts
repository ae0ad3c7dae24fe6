import { describe, expect, it } from "vitest";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { ProgramSimulation } from "@/solver/cluster/programSimulation";
import type { DecidedRequest } from "@/solver/cluster/recordedWorld";
import { replayRun } from "@/solver/cluster/replayRun";
import { simulatePrograms } from "@/solver/cluster/simulatePrograms";
import { loggedPolicy } from "@/solver/cluster/testing/decisionLog";
import { testReplica } from "@/solver/cluster/testing/testPrograms";
import type { GateDocument } from "@/solver/gates/gateDocument";
import type { Random } from "@/solver/numeric/random";
import type { CascadePolicy } from "@/solver/plan/plan";
import type { JustInTimePolicy, PolicyDocument, SlackPolicy } from "@/solver/plan/policySchema";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { workflowOfDocument } from "@/solver/workflow/workflowDocuments";
import { decided, type RecordedEngines, recorded, recordRun } from "../testing/recordedRuns";
import type { TestGateway } from "../testing/testGateway";
import { longText, shortText, testConfigurations } from "../testing/testPredictors";
import { alone, callOf, justInTime, ladder, pinned, voting } from "../testing/testRounds";

const engines: RecordedEngines = { kvTokens: 16_000_000, maxInFlight: 2, timeScale: 4 };
/** The last is of no workflow that a policy here declares: its requests are single. */
const documents: readonly WorkflowDocument[] = [voting, pinned, alone("single")];
const programs = 90;
const programOf = (at: number): WorkflowDocument => documents[at % documents.length] ?? voting;
const requests = Array.from({ length: programs }, (_, at) => programOf(at).agents.length).reduce((sum, count) => sum + count);

const predictor = testConfigurations(voting, ladder);
const cascade: CascadePolicy = {
  ...{ kind: "cascade", stages: ladder.map((model) => ({ model })), thresholds: [60, 40] },
  judge: { model: "weir-judge", secondsPerCall: 0.01, usdPerCall: 0 },
  ...{ order: { kind: "fcfs" }, place: { kind: "least-load" } },
  approvedRanges: { thresholds: [0, 1].map(() => ({ min: 0, max: 100 })) },
};
const slack: SlackPolicy = {
  ...{ kind: "slack", tau: 0.5, deltaScore: 0.1, floorSeconds: 1 },
  models: ladder.map((model, at) => ({ model, decodeSecondsPerToken: 0.01 * (at + 1), maxBatchSize: 3, confidence: 0.3 + 0.2 * at })),
  ...{ order: { kind: "stjf", agingThreshold: 20 }, place: { kind: "least-load", affinity: { ratio: 0.5 } } },
  approvedRanges: { tau: { min: 0, max: 1 }, deltaScore: { min: 0, max: 1 } },
};
const singles: NonNullable<JustInTimePolicy["singles"]> = {
  ...{ kind: "cascade", stages: [{ model: "small" }, { model: "large" }], thresholds: [60], judge: cascade.judge },
  approvedRanges: { thresholds: [{ min: 0, max: 100 }] },
};
const gate: GateDocument = { kind: "confidence", measure: "minimum", calibration: { raw: [0, 100], calibrated: [0, 100] } };
const answers = voting.agents
  .slice(0, -1)
  .flatMap(({ name: agent }) => ["small", "medium"].map((model) => ({ agent, model, rightIfAccurate: 0.95, rightIfNot: 0.05 })));
const chosen = (change: Partial<JustInTimePolicy> = {}): JustInTimePolicy =>
  justInTime([{ workflow: voting, predictor: predictor.hash, ...(change.callGates && { answers }) }, { workflow: pinned }], {
    singles,
    ...change,
  });

const policies: readonly (readonly [string, PolicyDocument])[] = [
  ["a cascade by thresholds (Cascadia)", cascade],
  ["slack dispatch by shortest total job (Chimera)", slack],
  ["slack dispatch in the order of workflows (Kairos)", { ...slack, order: { kind: "workflow", agingThreshold: 50 } }],
  ["rounds of a beam search beside a judged cascade (Aragog)", chosen()],
  [
    "rounds in which scores of agents' answers change what counts as accurate",
    chosen({ callGates: ["small", "medium"].map((model) => ({ model, gate, prior: 0.5 })) }),
  ],
  ["rounds by worth", chosen({ selection: { kind: "worth", rightSeconds: 5, delayWeight: 1 } })],
  // All but time slots: readings of engines' memory are not recorded.
  [
    "rounds by worth with a price of tokens, scores of agents' answers, a larger model after the cascade's last, in the order of workflows",
    chosen({
      selection: {
        ...{ kind: "worth", rightSeconds: 5, delayWeight: 4 },
        price: { models: [{ model: "large", secondsPerToken: 0.02, waiting: 1 }], dampingSeconds: 2 },
      },
      callGates: ["small", "medium"].map((model) => ({ model, gate, prior: 0.5 })),
      order: { kind: "workflow", agingThreshold: 50 },
      singles: {
        ...{ kind: "cascade", stages: ladder.map((model) => ({ model })), thresholds: [60, 0], judge: cascade.judge },
        approvedRanges: { thresholds: [0, 1].map(() => ({ min: 0, max: 100 })) },
      },
    }),
  ],
];

/** Programs whose agents are asked as soon as the answers that they read are there. */
async function load({ post }: TestGateway, random: Random): Promise<void> {
  const runs = Array.from({ length: programs }, async (_, at) => {
    await new Promise((resolve) => setTimeout(resolve, random.int(200)));
    const document = programOf(at);
    const prompt = random.next() < 0.5 ? shortText(`p${at}`) : `${longText(`p${at}`)} ${"word ".repeat(random.int(300))}`;
    // Quarters, which the lab's shares of 1 give back exactly.
    const scores = random.next() < 0.5 ? { "x-weir-router-scores": ladder.map((model) => `${model}=${25 * random.int(5)}`).join(",") } : {};
    const limit = random.next() < 0.6 ? { max_tokens: 1 + random.int(500) } : {};
    const streams = random.next() < 0.3;
    const answered = new Map<string, Promise<string>>();
    for (const { name, reads } of document.agents) {
      const asked = Promise.all(reads.map((read) => answered.get(read))).then(async (read) => {
        const body = {
          model: "cascade/test",
          messages: [{ role: "user", content: [prompt, ...read].join("\n") }],
          stream: streams,
          ...limit,
        };
        const headers = { ...callOf(document, name, `p${at}`), "x-weir-agent": name, ...scores };
        const answer = await post("/v1/chat/completions", body, headers);
        return (await answer.text()).slice(0, 20);
      });
      answered.set(name, asked);
    }
    await Promise.all(answered.values());
  });
  await Promise.all(runs);
}

/** The gateway's requests as the lab has them: by program in the order of their beginning, and in it by agent. */
function inLab(decisions: readonly Decision[]) {
  const ofProgram = new Map<string, Decision[]>();
  for (const decision of decisions) {
    const { program = "" } = decision;
    ofProgram.set(program, [...(ofProgram.get(program) ?? []), decision]);
  }
  const began = (of: readonly Decision[]): number =>
    Math.min(...of.map(({ programStart, stages }) => programStart ?? stages[0]?.at?.queued ?? 0));
  const inOrder = [...ofProgram.values()].sort((one, other) => began(one) - began(other));
  const documentOf = ([first]: readonly Decision[]): WorkflowDocument => programOf(Number(first?.program?.replace(/^.*p/, "")));
  const byAgent = inOrder.map((of) => documentOf(of).agents.map(({ name }) => of.find(({ agent }) => agent?.endsWith(`/${name}`))));
  const ordered = byAgent.flat().filter((decision) => decision !== undefined);
  expect(ordered).toHaveLength(decisions.length);
  const firstRequest = Int32Array.from([0, ...byAgent.map((_, at) => byAgent.slice(0, at + 1).flat().length)]);
  const program = Int32Array.from(byAgent.flatMap((of, at) => of.map(() => at)));
  const none = new Int32Array(ordered.length);
  const sample: ProgramSample = {
    ...{ models: ladder, workflows: documents.map(workflowOfDocument), firstRequest, program, row: program },
    arrivalSeconds: Float64Array.from(inOrder, began),
    workflow: Uint16Array.from(inOrder, (of) => documents.indexOf(documentOf(of))),
    prompt: Int32Array.from(inOrder.keys()),
    // The gateway has counted the answers that are read.
    givenTokens: Int32Array.from(ordered, ({ inputTokens = 0 }) => inputTokens),
    outputTokens: ladder.map(() => none),
    label: ladder.map(() => new Float64Array(ordered.length).fill(Number.NaN)),
  };
  return { ordered, sample };
}

/** What the lab's own world decides on the recorded requests, in the gateway's order. */
function labLog(
  document: PolicyDocument,
  decisions: readonly Decision[],
  replicas: readonly { id: string; model: string; maxInFlight: number }[],
) {
  const { ordered, sample } = inLab(decisions);
  const requestsAs = ordered.map(recorded(document));
  const of = (program: number) => requestsAs.find((request, at) => sample.program[at] === program && request.accurate !== undefined);
  const { policy, decided } = loggedPolicy(buildPolicy(document));
  const simulation: ProgramSimulation = {
    ...{ policy, sample, recorded: requestsAs },
    replicas: replicas.map((replica) => ({ ...replica, replica: testReplica })),
    predictions: {
      confidence: (request, model) => {
        const score = requestsAs[request]?.routerScores[ladder[model] ?? ""];
        return score === undefined ? undefined : score / 100;
      },
      requestTokens: (request) => requestsAs[request]?.predictedTokens,
      remainingTokens: (request) => requestsAs[request]?.predictedProgramTokens,
      configurations: (program) => of(program)?.accurate,
      margins: (program) => of(program)?.margins,
    },
  };
  const outcome = simulatePrograms(simulation);
  return { outcome, log: decisions.map((decision) => decided.get(String(ordered.indexOf(decision)))) };
}

/** A line for each request. */
const linesOf = (log: readonly (DecidedRequest | ReturnType<ReturnType<typeof decided>> | undefined)[]): readonly string[] =>
  log.map((one) => JSON.stringify(one) ?? "");

describe("the same recorded events, through gateway, simulator and lab,", () => {
  it.each(policies)("give logs of decisions that are equal byte by byte, under %s", async (_, policy) => {
    const { config, decisions } = await recordRun({ policy, engines, requests, predictor, load });
    expect(decisions).toHaveLength(requests);
    const gateway = linesOf(decisions.map(decided(policy)));
    const simulator = linesOf(replayRun(buildPolicy(policy), { replicas: config.replicas, requests: decisions.map(recorded(policy)) }));
    const lab = labLog(policy, decisions, config.replicas);
    expect(simulator).toEqual(gateway);
    expect(linesOf(lab.log)).toEqual(gateway);
    expect(lab.outcome.unserved).toBe(0);
    // Conditions for a meaningful comparison: work waited, all models were used, and another policy decides differently.
    const waited = decisions.filter(({ stages }) => stages.some(({ at }) => at!.dispatched > at!.queued));
    expect(waited.length).toBeGreaterThan(requests / 5);
    expect(new Set(decisions.flatMap(({ stages }) => stages.map(({ model }) => model)))).toEqual(new Set(ladder));
    const { learnt: __, ...other } = { ...policy, order: { kind: "sjf", agingThreshold: 3 } } as PolicyDocument;
    expect(linesOf(labLog(other as PolicyDocument, decisions, config.replicas).log)).not.toEqual(gateway);
  });
});
