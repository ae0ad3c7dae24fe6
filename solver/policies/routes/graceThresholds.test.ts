import { describe, expect, it } from "vitest";
import { graceFault } from "../../plan/grace";
import type { CascadePolicy } from "../../plan/plan";
import type { PolicyDocument } from "../../plan/policySchema";
import { buildPolicy } from "../buildPolicy";
import { changeGrace, graceAbove } from "../changeGrace";
import type { Policy, ReplicaView, WaitingWork } from "../core/policy";
import { policyRefusal } from "../policyRefusal";

const grace = { waiting: 3, calm: 1, holdSeconds: 5, pointsPerSecond: 2 };
const cascade: CascadePolicy = {
  kind: "cascade",
  stages: [{ model: "small" }, { model: "medium" }, { model: "large" }],
  thresholds: [60, 40],
  judge: { model: "judge", secondsPerCall: 0, usdPerCall: 0 },
  order: { kind: "fcfs" },
  place: { kind: "least-load" },
  approvedRanges: {
    thresholds: [
      { min: 50, max: 70 },
      { min: 37, max: 50 },
    ],
  },
  grace,
};

const replicas: readonly ReplicaView[] = ["small", "medium", "large"].map((model) => ({
  ...{ id: model, model, inFlight: 1, maxInFlight: 1, accepting: true, kvUse: { state: "absent" } },
}));

const work = (id: string, stage: number, seconds: number, state: WaitingWork["state"] = { kind: "queued" }): WaitingWork => ({
  ...{ id, programId: id, stage, programArrivalSeconds: 0, queuedSinceSeconds: seconds, inputTokens: 1, state },
});

/** Puts so many requests into the queue of a stage at a moment. */
function fill(policy: Policy, stage: number, { count, seconds }: { readonly count: number; readonly seconds: number }): void {
  for (let at = 0; at < count; at += 1) policy.observe({ kind: "queued", work: work(`${stage} ${at}`, stage, seconds) });
}

const inForce = (policy: Policy, seconds: number) => policy.grace?.(seconds).map((one) => [one.stage, one.inForce]);

/** The decision about an answer of a stage with a score. */
const judged = (policy: Policy, stage: number, score: number, nowSeconds: number) =>
  policy.decide({ nowSeconds, waiting: [work("answer", stage, nowSeconds, { kind: "answered", judgedScore: score })], replicas })[0];

describe("a cascade with grace", () => {
  it("lowers the thresholds of all stages before an overloaded one, each to the end of its own range", () => {
    const policy = buildPolicy(cascade);
    fill(policy, 2, { count: 4, seconds: 10 });
    expect(inForce(policy, 10)).toEqual([
      [0, 58],
      [1, 38],
    ]);
    expect(inForce(policy, 11)).toEqual([
      [0, 56],
      [1, 37],
    ]);
    expect(inForce(policy, 100)).toEqual([
      [0, 50],
      [1, 37],
    ]);
  });

  it("leaves the thresholds of stages that no overloaded one follows", () => {
    const policy = buildPolicy(cascade);
    fill(policy, 1, { count: 4, seconds: 10 });
    fill(policy, 0, { count: 40, seconds: 10 });
    expect(inForce(policy, 10.5)).toEqual([[0, 58]]);
  });

  it("accepts a score between the lowered threshold and the plan's, and says so; others as the plan does", () => {
    const policy = buildPolicy(cascade);
    expect(judged(policy, 0, 57, 9)).toMatchObject({ kind: "escalate", reason: "score-below-threshold" });
    fill(policy, 1, { count: 4, seconds: 10 });
    const lowered = { grace: { stage: 0, planned: 60, inForce: 56, sinceSeconds: 10 } };
    expect(judged(policy, 0, 57, 11)).toMatchObject({ kind: "accept", reason: "score-at-or-above-lowered-threshold", ...lowered });
    expect(judged(policy, 0, 55, 11)).toMatchObject({ kind: "escalate", reason: "score-below-threshold", ...lowered });
    expect(judged(policy, 0, 60, 11)).toMatchObject({ kind: "accept", reason: "score-at-or-above-threshold", ...lowered });
    expect(judged(policy, 1, 39, 11)).not.toHaveProperty("grace");
  });

  it("returns to the plan's thresholds when work has been sent or has left, after the hold time", () => {
    const policy = buildPolicy(cascade);
    fill(policy, 1, { count: 4, seconds: 10 });
    for (const at of [0, 1])
      policy.observe({ kind: "dispatched", workId: `1 ${at}`, programId: "", replicaId: "medium", nowSeconds: 11.5 });
    policy.observe({ kind: "left", workId: "1 2", nowSeconds: 12 });
    expect(inForce(policy, 16.9)).toEqual([[0, 56]]);
    expect(inForce(policy, 17)).toEqual([[0, 58]]);
    expect(inForce(policy, 18)).toEqual([]);
    expect(judged(policy, 0, 59, 18)).toMatchObject({ kind: "escalate", reason: "score-below-threshold" });
  });

  it("never lowers a threshold to 0, at which answers would get no score", () => {
    const all = [0, 1].map(() => ({ min: 0, max: 100 }));
    const policy = buildPolicy({ ...cascade, thresholds: [4, 0], approvedRanges: { thresholds: all } });
    fill(policy, 2, { count: 9, seconds: 0 });
    expect(inForce(policy, 60)).toEqual([[0, 1]]);
    expect([0, 1].map((stage) => policy.judges(stage))).toEqual([true, false]);
  });

  it("does not count work whose stage is lost and that moves on", () => {
    const policy = buildPolicy(cascade);
    fill(policy, 1, { count: 4, seconds: 10 });
    const outage = { isLost: (model: string) => model === "medium", lowerMayAnswer: true };
    const waiting = [0, 1, 2, 3].map((at) => work(`1 ${at}`, 1, 10));
    const actions = policy.decide({ nowSeconds: 10, waiting, replicas, outage });
    expect(actions.map(({ kind }) => kind)).toEqual(["skip", "skip", "skip", "skip"]);
    expect(inForce(policy, 40)).toEqual([]);
  });
});

describe("grace in a policy", () => {
  const { grace: _, ...plain } = cascade;

  it.each<[string, Parameters<typeof policyRefusal>[0], RegExp]>([
    ["one stage", { ...cascade, stages: [{ model: "a" }], thresholds: [], approvedRanges: { thresholds: [] } }, /one stage has none/],
    ["bounds in the wrong order", { ...cascade, grace: { ...grace, calm: 3 } }, /the first must be the smaller/],
  ])("is refused for %s", (_, policy, sentence) => {
    expect(policyRefusal(policy)).toMatch(sentence);
  });

  it("is refused beside cascade routing, which compares no threshold", () => {
    expect(graceFault({ ...cascade, cascadeRouting: {} })).toMatch(/cascade routing compares no score/);
    expect(graceFault(cascade)).toBeNull();
  });

  it("is refused for the single requests of a policy that chooses models just in time", () => {
    const { order, place, ...singles } = cascade;
    const model = (name: string) => ({ model: name, cost: 8, saturationBatch: 2, throughput: [{ batch: 2, tokensPerSecond: 50 }] });
    const policy: PolicyDocument = {
      ...{ kind: "just-in-time", models: ["small", "medium", "large"].map(model), workflows: [], singles, order, place },
      selection: { kind: "beam", width: 4 },
    };
    expect(policyRefusal(policy)).toMatch(/does not tell which stage is overloaded/);
    const { grace: __, ...others } = singles;
    expect(policyRefusal({ ...policy, singles: others })).toBeNull();
  });

  it("is added to a plan, changed and taken away again", () => {
    const added = changeGrace(graceAbove(8), plain);
    expect(added).toEqual({ policy: { ...plain, grace: { waiting: 8, calm: 2, holdSeconds: 10, pointsPerSecond: 1 } } });
    expect(changeGrace(null, cascade)).toEqual({ policy: plain });
    expect(changeGrace(null, plain)).toEqual({ refused: expect.stringMatching(/nothing would change/) });
    expect(changeGrace(grace, cascade)).toEqual({ refused: expect.stringMatching(/plan's own grace/) });
  });

  it("is not added where no threshold may fall, or where there are no thresholds", () => {
    const fixed = plain.thresholds.map((own) => ({ min: own, max: 100 }));
    expect(changeGrace(grace, { ...plain, approvedRanges: { thresholds: fixed } })).toEqual({ refused: expect.stringMatching(/may fall/) });
    const one = { kind: "fixed" as const, model: "a", order: plain.order, place: plain.place };
    expect(changeGrace(grace, one)).toEqual({ refused: expect.stringMatching(/of a cascade/) });
  });
});
