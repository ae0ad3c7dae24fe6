import { describe, expect, it } from "vitest";
import type { Plan } from "@/solver/plan/plan";
import { recommend } from "../planning/recommend";
import { testDispatch } from "../testing/testDispatch";
import { searched, testKnobs } from "../testing/testTables";
import { dispatchPlans } from "./dispatchPlans";
import { frontierPlans } from "./frontierPlans";
import { estimatedPlan, exactFrontierPlan, withPlan } from "./recommendedPlan";

const axes = { x: "quality", y: "latency" } as const;
const { choice, best } = recommend({ exploration: searched, dispatch: null }, { knobs: testKnobs, policy: "any", tau: null });
const plans = [
  ...frontierPlans({ exploration: searched, candidates: choice.candidates, knobs: testKnobs, axes, pins: [], policy: "any" }),
  ...dispatchPlans({ exploration: testDispatch, chosen: null, knobs: testKnobs, policy: "any" }),
];
const predictions = { quality: 80, qualityBand: { low: 78 }, p95Seconds: 3, largestStageP95Seconds: 2, costUsdPerRequest: 0.001 };
const planOf = (policy: object, deployment: readonly object[]) => ({ policy, predictions, deployment }) as unknown as Plan;
const of = { models: searched.models, dispatch: testDispatch, knobs: testKnobs };

describe("the recommended plan on the frontier", () => {
  it("is the exact plan with its own figures, in the place of the tables' estimate of it", () => {
    const policy = { kind: "cascade", stages: [{ model: "small" }, { model: "middle" }], thresholds: [40], judge: { model: "judge" } };
    const own = exactFrontierPlan(
      planOf(policy, [
        { model: "middle", gpus: 5 },
        { model: "small", gpus: 3 },
      ]),
      of,
    )!;
    expect(own).toMatchObject({ key: "small@40~middle", candidate: { gpus: [3, 5], gpusTotal: 8 }, figures: { quality: 78, latency: 3 } });
    const shown = withPlan(plans, own);
    expect(shown).toHaveLength(plans.length);
    expect(shown.find(({ key }) => key === own.key)?.figures).toEqual(own.figures);
  });

  it("is added where the tables lack its thresholds", () => {
    const policy = { kind: "cascade", stages: [{ model: "small" }, { model: "middle" }], thresholds: [41], judge: { model: "judge" } };
    const own = exactFrontierPlan(planOf(policy, []), of)!;
    expect(withPlan(plans, own).at(-1)).toBe(own);
  });

  it("is for slack dispatch the point of its allocation and tau, and stays on the line over tau", () => {
    const policy = { kind: "slack", models: [{ model: "small" }, { model: "large" }], tau: 1 };
    const own = exactFrontierPlan(
      planOf(policy, [
        { model: "small", gpus: 2 },
        { model: "large", gpus: 6 },
      ]),
      of,
    )!;
    expect(own.key).toBe("slack*0*1");
    expect(withPlan(plans, own).find(({ key }) => key === own.key)).toMatchObject({ dispatch: { onCurve: true }, figures: { latency: 3 } });
    const other = exactFrontierPlan(planOf(policy, [{ model: "small", gpus: 4 }]), of)!;
    expect(plans.some(({ key }) => key === other.key)).toBe(false);
  });

  it("changes no list where the tables' estimate is in it already", () => {
    expect(withPlan(plans, estimatedPlan(best!, searched, testKnobs))).toBe(plans);
  });
});
