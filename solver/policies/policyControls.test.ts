import { expect, it } from "vitest";
import type { SlackSteps } from "../plan/planSlack";
import { modelsOf, type PolicyDocument, type SinglesPolicy, withSinglesPolicy } from "../plan/policySchema";
import { examplePlanDraft } from "../plan/testing/examplePlan";
import { controlChangeText, controlValuesOf, policyWithOverrides, withPlanControls } from "./policyControls";

const { policy } = examplePlanDraft();
const step = (value: number, threshold: number) => {
  return { value, thresholds: [threshold], quality: 70, qualityLow: 68, p95Seconds: 2, share: [1, 0.4], approved: true };
};
const steps: SlackSteps = { kind: "p95", steps: [step(0, 60), step(0.2, 66)] };
const at = (threshold: number) => controlValuesOf({ ...policy, thresholds: [threshold] }, steps);

it("names thresholds by the step of the slack that sets them, and others by themselves alone", () => {
  expect(at(66)).toEqual({ thresholds: [66], slack: 0.2 });
  expect(at(61)).toEqual({ thresholds: [61] });
  expect(controlValuesOf(policy, undefined)).toEqual({ thresholds: [60] });
  expect(controlValuesOf({ ...policy, stages: [{ model: "small" }], thresholds: [] }, steps)).toEqual({});
});

it("says a change by its slack where a step has the thresholds, and leaves out what stays", () => {
  expect(controlChangeText(at(60), at(66))).toBe("slack 0 → 20 % (thresholds 60 → 66)");
  expect(controlChangeText(at(60), at(61))).toBe("slack 0 % → set by hand (thresholds 60 → 61)");
  expect(controlChangeText(at(61), at(66))).toBe("slack set by hand → 20 % (thresholds 61 → 66)");
  expect(controlChangeText({ thresholds: [60, 40] }, { thresholds: [61, 40] })).toBe("thresholds 60, 40 → 61, 40");
  expect(controlChangeText({ thresholds: [60, 40] }, { thresholds: [0, 40] })).toBe("thresholds 60, 40 → 0 (not judged), 40");
  expect(controlChangeText({ tau: 0.5, deltaScore: 0.1 }, { tau: 1.2, deltaScore: 0.1 })).toBe("tau 0.5 → 1.2");
  expect(controlChangeText({ tau: 0.5, deltaScore: 0.1 }, { tau: 0.5, deltaScore: 0.2 })).toBe("confidence margin 0.1 → 0.2");
  expect(controlChangeText(at(60), at(60))).toBe("");
});

it("are, of a just-in-time policy, those of the one for its single requests, inside their approved ranges", () => {
  const throughput = [{ batch: 1, tokensPerSecond: 10 }];
  const rounds: PolicyDocument = {
    ...{ kind: "just-in-time", workflows: [], selection: { kind: "beam", width: 4 }, order: policy.order, place: policy.place },
    models: modelsOf(policy).map((model) => ({ model, cost: 1, saturationBatch: 1, throughput })),
  };
  const joint = withSinglesPolicy(rounds, policy as SinglesPolicy);
  expect(controlValuesOf(joint, undefined)).toEqual({ thresholds: [60] });
  const turned = policyWithOverrides(joint, { thresholds: [61] });
  if (typeof turned === "string") throw new Error(turned);
  expect(turned.change).toBe("Set thresholds from 60 to 61");
  expect(turned.policy).toEqual({ ...joint, singles: { ...(joint as { singles: object }).singles, thresholds: [61] } });
  expect(withPlanControls(turned.policy, joint)).toEqual(joint);
  expect(policyWithOverrides(joint, { thresholds: [1000] })).toMatch(/must be an integer from 0 to 100/);
  expect(policyWithOverrides(joint, { tau: 1 })).toBe("The policy in force is of the kind just-in-time, which has no control tau.");
  expect(policyWithOverrides(rounds, { thresholds: [61] })).toMatch(/just-in-time, which has no control thresholds/);
  expect(policyWithOverrides(rounds, {})).toMatch(/just-in-time, which has no controls/);
  expect(withPlanControls(rounds, joint)).toEqual(rounds);
});
