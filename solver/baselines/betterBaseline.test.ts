import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { betterBaseline, replicaRules } from "./betterBaseline";

const objective = {
  kind: "latency-under-quality",
  qualityFloor: 80,
  latencyBudgetSeconds: null,
  maxGpus: 16,
  limitSeconds: null,
} as const;
const plan = { quality: 82, latency: 3, cost: 0.002, gpus: 16 };
const named = (name: string, figures: Partial<typeof plan>) => ({ name, figures: { ...plan, ...figures } });

describe("a baseline better than the plan", () => {
  it("is the one that is better by most on the objective, and none that is only as good", () => {
    const systems = [
      named("equal", {}),
      named("faster", { latency: 2.5 }),
      named("fastest", { latency: 2.25 }),
      named("better", { quality: 90 }),
    ];
    expect(betterBaseline(objective, plan, systems)).toMatchObject({ baseline: { name: "fastest" }, axis: "latency", by: 0.75 });
    expect(betterBaseline(objective, plan, systems.slice(0, 1))).toBeNull();
    expect(betterBaseline({ ...objective, kind: "quality-under-latency" }, plan, systems)).toMatchObject({ axis: "quality", by: 8 });
  });

  it("is none that misses floor, budget or slack, or needs more GPUs", () => {
    const faster = { latency: 2 };
    expect(betterBaseline(objective, plan, [named("low", { ...faster, quality: 79 })])).toBeNull();
    expect(betterBaseline(objective, plan, [named("large", { ...faster, gpus: 17 })])).toBeNull();
    expect(betterBaseline(objective, plan, [named("overloaded", { latency: Number.POSITIVE_INFINITY, quality: 99 })])).toBeNull();
    const cheapest = { ...objective, kind: "cost-under-both", latencyBudgetSeconds: 4 } as const;
    expect(betterBaseline(cheapest, plan, [named("slow", { latency: 4.5, cost: 0.001 })])).toBeNull();
    expect(betterBaseline({ ...cheapest, limitSeconds: 3.5 }, plan, [named("slack", { latency: 3.75, cost: 0.001 })])).toBeNull();
  });

  it("counts in quality where a slack gives up latency for it: a faster baseline is then not better", () => {
    const within = { ...objective, slack: 0.2, limitSeconds: 3.2 };
    expect(betterBaseline(within, plan, [named("faster", { latency: 2 })])).toBeNull();
    expect(betterBaseline(within, plan, [named("finer", { latency: 3.1, quality: 83 })])).toMatchObject({ axis: "quality", by: 1 });
  });

  it("leaves nothing better once it is the plan", () => {
    const figures = fc.record({
      quality: fc.integer({ min: 70, max: 90 }),
      latency: fc.integer({ min: 1, max: 9 }),
      cost: fc.integer({ min: 1, max: 9 }),
      gpus: fc.integer({ min: 1, max: 20 }),
    });
    const kind = fc.constantFrom("latency-under-quality" as const, "quality-under-latency" as const, "cost-under-both" as const);
    fc.assert(
      fc.property(figures, fc.array(figures.map((own) => ({ figures: own }))), kind, (own, systems, asked) => {
        const of = { ...objective, kind: asked };
        const better = betterBaseline(of, own, systems);
        if (better !== null) expect(betterBaseline(of, better.baseline.figures, systems)).toBeNull();
      }),
    );
  });
});

const replicas = (tp: number, count: number, pp = 1) => ({ shape: { tp, pp }, count });

it("asks for the shape of each model and its number of replicas, over all that it is deployed for", () => {
  const deployed = [
    { model: "small", replicas: [replicas(1, 3), replicas(2, 0)] },
    { model: "large", replicas: [replicas(4, 2, 2)] },
    { model: "small", replicas: [replicas(1, 1)] },
  ];
  expect(replicaRules(deployed)).toEqual([
    { model: "small", shape: { tp: 1, pp: 1 }, count: 4 },
    { model: "large", shape: { tp: 4, pp: 2 }, count: 2 },
  ]);
});

it("asks for nothing where a model has replicas of several shapes", () => {
  expect(replicaRules([{ model: "small", replicas: [replicas(1, 2), replicas(2, 1)] }])).toBeNull();
  expect(replicaRules([{ model: "small", replicas: [replicas(2, 2), replicas(2, 1, 2)] }])).toBeNull();
});
