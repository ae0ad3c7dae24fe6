import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { startTestEngine } from "../testing/testEngine";
import { startTestGateway, type TestGateway, testConfig, until } from "../testing/testGateway";
import { ask, askAll, candidateOf, control, models, startScoredCascade } from "../testing/testScoredCascade";
import { putShadow, questions, readShadow, signature, slackOver } from "../testing/testShadow";
import { Shadow } from "./shadow";

type Cascade = Extract<PolicyDocument, { kind: "cascade" }>;

/** Every decision so far; a page holds a thousand. */
async function decisionsAfter({ adminUrl }: TestGateway, after: number): Promise<readonly Decision[]> {
  const page = (await (await fetch(`${adminUrl}/decisions?after=${after}`)).json()) as { decisions: Decision[] };
  return page.decisions;
}

/** What a cascade of the same models would have done, computed from the recorded scores only. */
function expectedOf(decisions: readonly Decision[], { thresholds, judge }: Cascade) {
  const verdicts = { same: 0, acceptsMore: 0, escalatesMore: 0 };
  const finals = new Map(models.map((model) => [model as string, { actual: 0, candidate: 0 }]));
  finals.set("unknown", { actual: 0, candidate: 0 });
  const judges = (stage: number): boolean => (thresholds[stage] ?? 0) > 0;
  const accepts = (stage: number, score: number | null): boolean =>
    !judges(stage) || (score === null ? judge.whenDown !== "largest" : score >= (thresholds[stage] ?? 0));
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
      if (!judges(stage)) final = model;
      if (!judges(stage) || score === undefined) break;
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

const nothing = (): void => undefined;

/** One model, ordered by what workflows teach, packed into its engines' memory. */
const workflowAt = (model: string): PolicyDocument => {
  return { kind: "fixed", model, order: { kind: "workflow", agingThreshold: 100 }, place: { kind: "time-slots" } };
};

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

  it("compares no answer that another gate scored than its own would have", async () => {
    const { gateway, config } = await startScoredCascade();
    const confidence = { kind: "confidence" as const, measure: "minimum" as const };
    await putShadow(gateway, { ...(config.policy as Cascade), gates: [{ kind: "judge" }, confidence] });
    await askAll(gateway, questions(60), 4);
    const judged = (await decisionsAfter(gateway, 0)).flatMap(({ stages }) => stages).filter(({ gate }) => gate !== undefined);
    const byMedium = judged.filter(({ model }) => model === "medium").length;
    const { verdicts, notComparable } = await readShadow(gateway);
    expect(byMedium).toBeGreaterThan(0);
    expect([verdicts.same, notComparable]).toEqual([judged.length - byMedium, byMedium]);
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
    // Judges the answers that the cascade in force leaves unjudged, and leaves unjudged those that it judges.
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

  it("may go by what workflows teach and pack memory, though nothing in force does", async () => {
    const { gateway } = await startScoredCascade();
    await putShadow(gateway, workflowAt("medium"));
    await askAll(gateway, questions(40), 4);
    const { requests, starts, finalModels, endReason } = await readShadow(gateway);
    expect([requests, starts.different, finalModels.medium?.candidate, endReason]).toEqual([40, 40, 40, ""]);
  });

  it.each([
    ["is told what workflows teach at its own models where it reads that", workflowAt("large"), ["large"]],
    [
      "is told nothing of workflows where it reads none",
      { ...workflowAt("large"), order: { kind: "fcfs" }, place: { kind: "least-load" } },
      [],
    ],
  ] as const)("%s", (_, policy, models) => {
    const told: string[] = [];
    const shadow = new Shadow({ request: { candidate: candidateOf(policy), ...signature }, onDifference: nothing, onFailed: nothing });
    const asked = { decisionId: "a", mostTokens: null, programTokens: null, routerScores: new Map() };
    const request = { programId: "p", inputTokens: 1, routerScores: () => undefined, judgeResting: false, replicas: [] };
    const forecast = (model: string) => void told.push(model);
    shadow.start(asked, { request, model: "small", prediction: null, forecast });
    const work = { id: "a", programId: "p", stage: 0, programArrivalSeconds: 0, queuedSinceSeconds: 0, inputTokens: 1 };
    shadow.observe({ kind: "queued", work: { ...work, state: { kind: "queued" } } }, "small");
    expect(told).toEqual(models);
    expect(shadow.summary()).toMatchObject({ requests: 1, endReason: "" });
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
    const says = { mostTokens: null, programTokens: null, routerScores: new Map() };
    const started = { request: broken, model: "small", prediction: null, forecast: () => undefined };
    for (const decisionId of ["a", "b"]) shadow.start({ decisionId, ...says }, started);
    expect(failures).toEqual(["the replicas are gone"]);
    expect(shadow.summary()).toMatchObject({ requests: 0, endReason: "the replicas are gone" });
  });
});
