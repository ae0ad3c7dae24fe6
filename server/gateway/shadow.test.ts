import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Decision } from "@/server/contracts/gatewayAdmin";
import { type Shadow as ShadowSummary, shadowSchema } from "@/server/contracts/gatewayControls";
import type { PolicyDocument, SlackPolicy } from "@/solver/plan/policySchema";
import { ask, askAll, candidateOf, control, models, startScoredCascade } from "./scoredCascade";
import { Shadow } from "./shadow";
import { heldEngine, sayCompletion, startTestEngine } from "./testEngine";
import { startTestGateway, type TestGateway, testConfig, until } from "./testGateway";

type Cascade = Extract<PolicyDocument, { kind: "cascade" }>;

const signature = { by: "ann", reason: "a look" };
const questions = (count: number, from = 0): string[] => Array.from({ length: count }, (_, index) => `q${from + index}`);

async function putShadow(gateway: TestGateway, policy: PolicyDocument): Promise<void> {
  const { status, document } = await control(gateway, "PUT", "/shadow", { candidate: candidateOf(policy), ...signature });
  expect([status, document]).toMatchObject([200, { requests: 0, endReason: "" }]);
}

async function readShadow(gateway: TestGateway): Promise<ShadowSummary> {
  return shadowSchema.parse((await control(gateway, "GET", "/shadow")).document);
}

/** Every decision so far; a page holds a thousand. */
async function decisionsAfter({ adminUrl }: TestGateway, after: number): Promise<readonly Decision[]> {
  const page = (await (await fetch(`${adminUrl}/decisions?after=${after}`)).json()) as { decisions: Decision[] };
  return page.decisions;
}

/** What a cascade of the same models would have done, worked out from nothing but the recorded scores. */
function expectedOf(decisions: readonly Decision[], { thresholds, judge }: Cascade) {
  const verdicts = { same: 0, acceptsMore: 0, escalatesMore: 0 };
  const finals = new Map(models.map((model) => [model as string, { actual: 0, candidate: 0 }]));
  finals.set("unknown", { actual: 0, candidate: 0 });
  const accepts = (stage: number, score: number | null): boolean =>
    score === null ? judge.whenDown !== "largest" : score >= (thresholds[stage] ?? 0);
  for (const { stages } of decisions) {
    const scores = new Map<string, number | null>();
    for (const { model, judgeSeconds, judgedScore, verdict } of stages) {
      if (judgeSeconds === null) continue;
      scores.set(model, judgedScore);
      const would = accepts(models.indexOf(model as "small"), judgedScore);
      if (would === (verdict === "accepted")) verdicts.same += 1;
      else verdicts[would ? "acceptsMore" : "escalatesMore"] += 1;
    }
    let final = "unknown";
    for (let stage = 0; stage < models.length; ) {
      const model = models[stage] ?? "";
      const score = scores.get(model);
      if (stage === models.length - 1) final = model;
      if (stage === models.length - 1 || score === undefined) break;
      if (accepts(stage, score)) {
        final = model;
        break;
      }
      stage = score === null ? models.length - 1 : stage + 1;
    }
    count(finals, stages.at(-1)?.model ?? "").actual += 1;
    count(finals, final).candidate += 1;
  }
  return { verdicts, finalModels: Object.fromEntries([...finals].filter(([, { actual, candidate }]) => actual + candidate > 0)) };
}

function count(finals: Map<string, { actual: number; candidate: number }>, model: string): { actual: number; candidate: number } {
  const found = finals.get(model);
  if (found === undefined) throw new Error(`The model ${model} is none of the cascade's.`);
  return found;
}

describe("a shadow", () => {
  it("of the policy in force differs from it nowhere", async () => {
    const { gateway, config } = await startScoredCascade();
    await putShadow(gateway, config.policy);
    await askAll(gateway, questions(300), 8);
    const { requests, starts, verdicts, notComparable, finalModels } = await readShadow(gateway);
    expect([requests, starts, notComparable]).toEqual([300, { same: 300, different: 0 }, 0]);
    const judged = (await decisionsAfter(gateway, 0)).flatMap(({ stages }) => stages).filter(({ judgeSeconds }) => judgeSeconds !== null);
    expect(verdicts).toEqual({ same: judged.length, acceptsMore: 0, escalatesMore: 0 });
    for (const { actual, candidate } of Object.values(finalModels)) expect(candidate).toBe(actual);
    expect(Object.keys(finalModels).sort()).toEqual(["large", "medium", "small"]);
  });

  it("with other thresholds shows the verdicts and final models that follow from the recorded scores", async () => {
    const { gateway, config } = await startScoredCascade();
    let asked = 0;
    let differences = 0;
    const threshold = fc.integer({ min: 0, max: 100 });
    await fc.assert(
      fc.asyncProperty(threshold, threshold, fc.constantFrom("accept", "largest"), async (first, second, whenDown) => {
        const { policy } = config as { policy: Cascade };
        const candidate: Cascade = { ...policy, thresholds: [first, second], judge: { ...policy.judge, whenDown: whenDown as "accept" } };
        await putShadow(gateway, candidate);
        const before = (await decisionsAfter(gateway, 0)).at(-1)?.sequence ?? 0;
        await askAll(gateway, questions(40, asked), 4);
        asked += 40;
        const { requests, verdicts, finalModels } = await readShadow(gateway);
        expect(requests).toBe(40);
        differences += verdicts.acceptsMore + verdicts.escalatesMore;
        expect({ verdicts, finalModels }).toEqual(expectedOf(await decisionsAfter(gateway, before), candidate));
      }),
      {
        numRuns: 12,
        endOnFailure: true,
        examples: [
          [0, 0, "accept"],
          [100, 100, "largest"],
          [20, 20, "accept"],
        ],
      },
    );
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    const counted = ["accepts", "escalates"].map((kind) =>
      Number(new RegExp(`differences_total\\{difference="${kind}"\\} (\\d+)`).exec(metrics)?.[1]),
    );
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(differences);
  });

  it("goes on while plans are switched and a panic comes and goes, and counts what the cascade answered", async () => {
    const { gateway, config } = await startScoredCascade({ answerMs: 3 });
    const policy = config.policy as Cascade;
    await putShadow(gateway, { ...policy, thresholds: [80, 80] });
    const asking = Promise.all([askAll(gateway, questions(150), 3), askAll(gateway, questions(150, 150), 3)]);
    const other = {
      ...policy,
      stages: [{ model: "small" }, { model: "large" }],
      thresholds: [60],
      approvedRanges: { thresholds: [{ min: 0, max: 100 }] },
    };
    for (const next of [other, policy, other]) {
      await gateway.put({ ...config, planId: "plan-c", policyHash: candidateOf(next).policyHash, policy: next });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect((await control(gateway, "PUT", "/panic", { model: "large", ...signature })).status).toBe(200);
    expect((await ask(gateway, "in panic")).headers.get("x-weir-model")).toBe("large");
    expect((await control(gateway, "DELETE", "/panic", signature)).status).toBe(200);
    await asking;
    const decisions = await decisionsAfter(gateway, 0);
    const panicked = decisions.filter(({ policyHash }) => policyHash === "panic");
    const { requests, starts, finalModels, endReason } = await readShadow(gateway);
    expect([decisions.length, panicked.length > 0, endReason]).toEqual([301, true, ""]);
    expect(starts.same + starts.different).toBe(requests);
    const sum = (whose: "actual" | "candidate") => Object.values(finalModels).reduce((all, counts) => all + counts[whose], 0);
    expect([sum("actual"), sum("candidate")]).toEqual(Array(2).fill(301 - panicked.length));
  });

  it("asks no engine and no judge for anything", async () => {
    const { gateway, config, engines, judge } = await startScoredCascade();
    await putShadow(gateway, { ...(config.policy as Cascade), thresholds: [100, 100] });
    await askAll(gateway, questions(60), 4);
    const stages = (await decisionsAfter(gateway, 0)).flatMap((decision) => decision.stages);
    expect(engines.reduce((sum, { asked }) => sum + asked.length, 0)).toBe(stages.length);
    expect(judge.asked).toHaveLength(stages.filter(({ judgeSeconds }) => judgeSeconds !== null).length);
  });

  it("counts answers that only one of the two has judged as not comparable, and knows the final model without a score it does not need", async () => {
    const { gateway, config } = await startScoredCascade({ settings: { judge: { timeoutSeconds: 5 } } });
    const policy = config.policy as Cascade;
    // Judges what the cascade in force gives unjudged, and gives unjudged what that has judged.
    const stages = [{ model: "large" }, { model: "small" }];
    const approvedRanges = { thresholds: [{ min: 0, max: 100 }] };
    await putShadow(gateway, { ...policy, stages, thresholds: [50], approvedRanges });
    await askAll(gateway, questions(50), 4);
    const decisions = await decisionsAfter(gateway, 0);
    const judged = decisions.flatMap((decision) => decision.stages).filter(({ judgeSeconds }) => judgeSeconds !== null);
    const large = decisions.filter((decision) => decision.stages.at(-1)?.model === "large");
    const shadow = await readShadow(gateway);
    expect(shadow.starts).toEqual({ same: 0, different: 50 });
    expect(shadow.verdicts).toEqual({ same: 0, acceptsMore: 0, escalatesMore: 0 });
    expect(shadow.notComparable).toBe(judged.length + large.length);
    expect(shadow.finalModels.unknown).toEqual({ actual: 0, candidate: 50 });
    await putShadow(gateway, { kind: "fixed", model: "medium", order: policy.order, place: policy.place });
    await askAll(gateway, questions(30), 4);
    expect((await readShadow(gateway)).finalModels.medium?.candidate).toBe(30);
  });

  it("leaves requests that failed or whose client left out of the final models", async () => {
    const engine = await startTestEngine((_, response) => response.writeHead(400).end("{}"));
    const silent = await startTestEngine(() => undefined);
    const gateway = await startTestGateway();
    const config = testConfig({ stages: [{ model: "large", urls: [engine.url] }] });
    await gateway.put(config);
    await putShadow(gateway, config.policy);
    expect((await ask(gateway, "a")).status).toBe(400);
    await gateway.put(testConfig({ stages: [{ model: "large", urls: [silent.url] }] }));
    const leaving = new AbortController();
    const left = gateway.chat({}, { signal: leaving.signal }).catch(() => null);
    await until(() => silent.asked.length === 1);
    leaving.abort();
    await left;
    await until(async () => (await gateway.decisions()).length === 2);
    expect(await readShadow(gateway)).toMatchObject({ requests: 2, starts: { same: 2, different: 0 }, finalModels: {} });
  });

  it("ends with the reason on an error of its own, once, and no request learns of it", () => {
    const failures: string[] = [];
    const request = { candidate: candidateOf(slackOver(0.5)), ...signature };
    const shadow = new Shadow({ request, onDifference: () => undefined, onFailed: (reason) => failures.push(reason) });
    const broken = {
      programId: "p",
      inputTokens: 1,
      routerScores: () => undefined,
      judgeResting: false,
      get replicas(): never {
        throw new Error("the replicas are gone");
      },
    };
    for (const id of ["a", "b"]) shadow.start(id, { request: broken, model: "small" });
    expect(failures).toEqual(["the replicas are gone"]);
    expect(shadow.summary()).toMatchObject({ requests: 0, endReason: "the replicas are gone" });
  });
});

/** Slack dispatch between small and large, small being the surer by `lead`. */
function slackOver(lead: number): SlackPolicy {
  return {
    kind: "slack",
    models: [
      { model: "small", decodeSecondsPerToken: 0.01, maxBatchSize: 1, confidence: 0.5 },
      { model: "large", decodeSecondsPerToken: 0.02, maxBatchSize: 1, confidence: 0.5 - lead },
    ],
    tau: 0.5,
    deltaScore: 0.1,
    floorSeconds: 0.1,
    order: { kind: "stjf", agingReleases: 100 },
    place: { kind: "least-load", affinity: { ratio: 0.5 } },
    approvedRanges: { tau: { min: 0, max: 1 }, deltaScore: { min: 0, max: 1 } },
  };
}

describe("a shadow of slack dispatch", () => {
  it("that is in force itself starts every request where that does, under load and over sessions", async () => {
    const { gateway, config } = await startScoredCascade({ answerMs: 5 });
    const policy = slackOver(0.2);
    await gateway.put({ ...config, policyHash: candidateOf(policy).policyHash, policy });
    await putShadow(gateway, policy);
    const asking = Array.from({ length: 300 }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * 2));
      const body = { model: "cascade/test", messages: [{ role: "user", content: `q${index}` }], max_tokens: 20 + ((index * 37) % 400) };
      const session: Record<string, string> = index % 3 === 0 ? { "x-session-id": `s${index % 20}` } : {};
      return (await gateway.post("/v1/chat/completions", body, session)).headers.get("x-weir-model");
    });
    const answeredBy = await Promise.all(asking);
    expect(new Set(answeredBy)).toEqual(new Set(["small", "large"]));
    const { starts, finalModels, notComparable } = await readShadow(gateway);
    expect([starts, notComparable]).toEqual([{ same: 300, different: 0 }, 0]);
    for (const [model, { actual, candidate }] of Object.entries(finalModels)) {
      expect([actual, candidate]).toEqual(Array(2).fill(answeredBy.filter((by) => by === model).length));
    }
  });

  it("follows the live load of the policy in force, and lets a program keep the model that it gave it itself", async () => {
    const small = await heldEngine();
    const large = await startTestEngine((_, response) => sayCompletion(response, "large"));
    const gateway = await startTestGateway();
    const config = testConfig({
      stages: [
        { model: "small", urls: [small.url] },
        { model: "large", urls: [large.url] },
      ],
      thresholds: [50],
      judgeUrl: large.url,
    });
    await gateway.put(config);
    await putShadow(gateway, slackOver(0));
    const body = { model: "cascade/test", messages: [{ role: "user", content: "x" }], max_tokens: 100 };
    const askIn = (session: string) => gateway.post("/v1/chat/completions", body, { "x-session-id": session });
    const first = askIn("one");
    await until(() => small.asked.length === 1);
    // The first fills small, where all go in fact; the candidate would have spread the others.
    const second = askIn("two");
    await until(() => small.asked.length === 2);
    expect((await readShadow(gateway)).starts).toEqual({ same: 1, different: 1 });
    small.open();
    for (const answer of await Promise.all([first, second])) expect(answer.status).toBe(200);
    await askIn("two");
    expect((await readShadow(gateway)).starts).toEqual({ same: 1, different: 2 });
    await askIn("one");
    await askIn("three");
    expect((await readShadow(gateway)).starts).toEqual({ same: 3, different: 2 });
  });
});

describe("the shadow's control", () => {
  it("refuses what is no policy or not the policy of its hash, and runs on over what is refused", async () => {
    const { gateway, config } = await startScoredCascade();
    const { policy } = config;
    await putShadow(gateway, policy);
    const candidate = candidateOf(policy);
    for (const wrong of [
      {},
      { candidate, by: "ann" },
      { candidate: { ...candidate, policyHash: "a" }, ...signature },
      { candidate: candidateOf({ ...(policy as Cascade), stages: [{ model: "a" }, { model: "a" }, { model: "b" }] }), ...signature },
    ]) {
      const { status, document } = await control(gateway, "PUT", "/shadow", wrong);
      expect([status, typeof document.error.message]).toEqual([400, "string"]);
    }
    await askAll(gateway, questions(3), 1);
    expect((await readShadow(gateway)).requests).toBe(3);
  });

  it("ends it on DELETE, keeps it over a restart with counts that begin anew, and has every change in the audit", async () => {
    const first = await startScoredCascade();
    const { policy } = first.config;
    await putShadow(first.gateway, policy);
    await askAll(first.gateway, questions(5), 1);
    const before = await readShadow(first.gateway);
    const { stateDirectory } = first.gateway;
    await first.gateway.close();
    const gateway = await startTestGateway({}, { stateDirectory });
    const after = await readShadow(gateway);
    expect([before.requests, after.requests]).toEqual([5, 0]);
    expect(after.candidate).toEqual(before.candidate);
    expect(after.sinceMs).toBeGreaterThan(before.sinceMs);
    expect((await control(gateway, "DELETE", "/shadow", { by: "bob", reason: "seen enough" })).status).toBe(200);
    expect((await control(gateway, "GET", "/shadow")).document).toBeNull();
    expect((await control(gateway, "DELETE", "/shadow", { by: "bob", reason: "" })).status).toBe(404);
    const { lines } = (await control(gateway, "GET", "/audit")).document as { lines: { by: string; action: string; detail: string }[] };
    const own = lines.filter(({ action }) => action.startsWith("shadow"));
    expect(own.map(({ by, action }) => [by, action])).toEqual([
      ["ann", "shadow started"],
      ["bob", "shadow ended"],
    ]);
    expect(own[1]?.detail).toContain("seen enough");
  });
});
