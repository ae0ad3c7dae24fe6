import { describe, expect, it } from "vitest";
import type { CascadePolicy } from "../plan/plan";
import { type JustInTimePolicy, modelsOf, type PolicyDocument, policySchema } from "../plan/policySchema";
import { examplePlanDraft } from "../plan/testing/examplePlan";
import { buildPolicy } from "./buildPolicy";
import { changeQueueing, type Queueing, queueingOf } from "./changeQueueing";

const orderKinds = ["fcfs", "mlfq", "sjf", "stjf", "depth", "workflow"] as const;
const placeKinds = ["round-robin", "least-load", "lowest-kv", "time-slots"] as const;
const { policy } = examplePlanDraft();
const own = queueingOf(policy);
const lengths = "a".repeat(64);
const made = (change: Partial<Queueing>, of: PolicyDocument = policy): PolicyDocument => {
  const composed = changeQueueing({ ...queueingOf(of), ...change }, of);
  if ("refused" in composed) throw new Error(composed.refused);
  return composed.policy;
};
const refusal = (change: Partial<Queueing>): string | null => {
  const composed = changeQueueing({ ...own, ...change }, policy);
  return "refused" in composed ? composed.refused : null;
};

describe("another order and place", () => {
  it("makes policies that plans can hold and gateways run, of every pair but the plan's own", () => {
    for (const order of orderKinds) {
      for (const place of placeKinds) {
        if (order === own.order && place === own.place) continue;
        const policy = made({ order, place, affinity: false });
        expect(policySchema.parse(policy)).toEqual(policy);
        expect(policy).toMatchObject({ order: { kind: order }, place: { kind: place } });
        expect(() => buildPolicy(policy)).not.toThrow();
      }
    }
  });

  it("leaves routes as they are, and keeps what the plan says of aging, quanta and affinity", () => {
    const { order: _, place: __, ...routes } = policy;
    expect(made({ order: "workflow" })).toEqual({ ...routes, order: { kind: "workflow", agingThreshold: 1000 }, place: policy.place });
    const old: PolicyDocument = {
      ...policy,
      order: { kind: "mlfq", quantaSeconds: [3], agingThreshold: 7 },
      place: { kind: "lowest-kv", affinity: { ratio: 0.2 } },
    };
    expect(made({ order: "depth" }, old)).toMatchObject({ order: { kind: "depth", agingThreshold: 7 }, place: old.place });
    const due: PolicyDocument = { ...policy, order: { kind: "deadline", impliedSeconds: 5, agingThreshold: 7 } };
    expect(made({ order: "deadline" }, old).order).toEqual({ kind: "deadline", impliedSeconds: 60, agingThreshold: 7 });
    expect(made({ order: "deadline", place: "lowest-kv" }, due).order).toEqual(due.order);
    expect(made({ place: "least-load" }, old)).toMatchObject({ order: old.order, place: { kind: "least-load", affinity: { ratio: 0.2 } } });
    expect(made({ affinity: false }, old).place).toEqual({ kind: "lowest-kv" });
  });

  it("names a predictor of lengths only where something reads it", () => {
    const reading: PolicyDocument = { ...policy, order: { kind: "stjf", agingThreshold: 9 }, learnt: { lengths } };
    expect(made({ order: "sjf" }, reading).learnt).toEqual({ lengths });
    expect(made({ order: "workflow" }, reading)).not.toHaveProperty("learnt");
    const { order: _, place: __, ...singles } = policy as CascadePolicy;
    const throughput = [{ batch: 1, tokensPerSecond: 10 }];
    const models = modelsOf(policy).map((model) => ({ model, cost: 1, saturationBatch: 1, throughput, meanOutputTokens: 90 }));
    const rounds = (selection: JustInTimePolicy["selection"]) =>
      made({ order: "depth" }, { ...reading, kind: "just-in-time", models, workflows: [], selection, singles }).learnt;
    expect(rounds({ kind: "worth", rightSeconds: 0, delayWeight: 1 })).toEqual({ lengths });
    expect(rounds({ kind: "beam", width: 4 })).toBeUndefined();
  });

  it("says why a pair makes no sense, and when nothing is changed", () => {
    expect(refusal({})).toMatch(/the plan's own order and place/);
    expect(refusal({ place: "round-robin", affinity: true })).toMatch(/^Round-robin takes the replicas in turn, affinity/);
    expect(refusal({ place: "time-slots", affinity: true })).not.toBeNull();
  });
});
