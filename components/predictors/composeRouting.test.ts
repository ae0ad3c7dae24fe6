import { describe, expect, it } from "vitest";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { policyRefusal } from "@/solver/policies/policyRefusal";
import { composeRouting, type RoutingForm } from "./composeRouting";

const plan = examplePlanDraft();
const [lengths, confidence] = ["a".repeat(64), "b".repeat(64)] as [string, string];
const form: RoutingForm = { route: "same", tau: 0.5, margin: 0, order: "stjf", lengths, confidence: "" };
const models = plan.policy.stages.map(({ model }) => ({ model, decodeSecondsPerToken: 0.01, maxBatchSize: 32, confidence: 0.5 }));
const slack: PolicyDocument = {
  ...{ kind: "slack", models, tau: 0.25, deltaScore: 0, floorSeconds: 1, order: { kind: "fcfs" }, place: { kind: "round-robin" } },
  approvedRanges: { tau: { min: 0, max: 1 }, deltaScore: { min: 0, max: 1 } },
};
const suggested = { systems: [{ name: "Chimera", about: "", policy: slack, lengths: "learnt", confidence: "learnt" } as const] };
const refusedOf = (change: Partial<RoutingForm>, systems = suggested) => {
  const made = composeRouting({ ...form, ...change }, plan, systems);
  return "refused" in made ? made.refused : null;
};

describe("routing with predictors", () => {
  it("orders a plan's requests by predicted lengths, and leaves the rest of its policy as it is", () => {
    const made = composeRouting(form, plan, null);
    expect(made).toEqual({ policy: { ...plan.policy, order: { kind: "stjf", agingThreshold: 1000 }, learnt: { lengths } } });
    expect("policy" in made && policyRefusal(made.policy)).toBeNull();
  });

  it("takes slack dispatch with its engines' figures, at the slack and the margin that are asked for", () => {
    const made = composeRouting({ ...form, route: "slack", tau: 2, margin: 0.12, confidence }, plan, suggested);
    if ("refused" in made) throw new Error(made.refused);
    expect(made.policy).toMatchObject({
      kind: "slack",
      models,
      tau: 2,
      deltaScore: 0.12,
      place: plan.policy.place,
      learnt: { lengths, confidence },
    });
    expect(policyRefusal(made.policy)).toBeNull();
  });

  it("refuses predictors that nothing would read", () => {
    expect(refusedOf({ lengths: "" })).toMatch(/Choose a predictor/);
    expect(refusedOf({ confidence })).toBe("Only slack dispatch uses confidence.");
    expect(refusedOf({ order: "fcfs" })).toMatch(/uses no lengths/);
    expect(refusedOf({ route: "slack" }, { systems: [] })).toMatch(/this plan has engines of only one model/);
    expect(refusedOf({ route: "slack", order: "fcfs" })).toBeNull();
  });
});
