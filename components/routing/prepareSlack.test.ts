import { describe, expect, it } from "vitest";
import type { CascadePolicy, Plan } from "@/solver/plan/plan";
import type { SlackStep, SlackSteps } from "@/solver/plan/planSlack";
import type { SlackPolicy } from "@/solver/plan/policySchema";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { beyondSays } from "./beyondSays";
import { prepareKnobs } from "./prepareKnobs";
import { prepareSlack } from "./prepareSlack";

const example = examplePlanDraft();
const cascade = example.policy;
const dispatch: SlackPolicy = {
  ...{ kind: "slack", tau: 1, deltaScore: 0.1, floorSeconds: 0.5, order: { kind: "fcfs" }, place: { kind: "least-load" } },
  models: ["small", "large"].map((model) => ({ model, decodeSecondsPerToken: 0.01, maxBatchSize: 8, confidence: 0.5 })),
  approvedRanges: { tau: { min: 0.5, max: 2 }, deltaScore: { min: 0, max: 0.2 } },
};
const step = (value: number, change: Partial<SlackStep> = {}): SlackStep => {
  const large = 0.4 + value / 10;
  return {
    value,
    quality: 70 + 10 * value,
    qualityLow: 68 + 10 * value,
    p95Seconds: 2 + value,
    share: [1, large],
    approved: true,
    ...change,
  };
};
const planWith = (policy: CascadePolicy | SlackPolicy, slack?: SlackSteps): Plan =>
  ({ ...example, policy, predictions: { ...example.predictions, ...(slack && { slack }) } }) as unknown as Plan;
const planned = planWith(cascade, {
  kind: "p95",
  steps: [
    step(0, { thresholds: [60] }),
    step(0.1, { thresholds: [66] }),
    step(0.18, { thresholds: [66] }),
    step(0.35, { thresholds: [70] }),
    step(0.6, { thresholds: [78], approved: false }),
  ],
});

describe("the slack of a cascade", () => {
  it("moves along the plan's settings, each of which sets all thresholds, and merges those that set the same", () => {
    const slack = prepareSlack(cascade, planned, {})!;
    expect(slack).toMatchObject({ kind: "p95", min: 0, max: 3, step: 1, exact: true });
    expect([0, 1, 2, 3].map((position) => slack.at(position).label)).toEqual([
      ...["p95 up to +0 %", "p95 up to +10 %", "p95 up to +35 %", "p95 up to +60 %"],
    ]);
    expect(slack.at(2).values).toEqual({ "threshold 0": 70 });
    expect(slack.at(9).position).toBe(3);
    expect(slack.note).toBe("in force +0 %, planned +0 %, approved from +0 % to +35 %");
    expect(slack.approved).toEqual({ from: 0, to: 2 / 3 });
  });

  it("is at the setting of the chosen thresholds, with the plan's estimate", () => {
    const { chosen, inForce, exact } = prepareSlack(cascade, planned, { "threshold 0": 66 })!;
    expect({ exact, position: chosen.position }).toEqual({ exact: true, position: 1 });
    expect(chosen.estimate).toMatchObject({ quality: 71, p95Seconds: 2.1 });
    expect(inForce?.position).toBe(0);
  });

  it("calls thresholds that no setting has set by hand, and is at the nearest setting", () => {
    const byHand = { ...cascade, thresholds: [68] };
    expect(prepareSlack(byHand, planned, {})).toMatchObject({ exact: false, inForce: null, chosen: { position: 1 } });
    expect(prepareSlack(byHand, planned, {})!.note).toMatch(/^in force set by hand, planned \+0 %/);
  });

  it("needs a new plan where a setting leaves the approved ranges, or was not approved", () => {
    const says = (threshold: number, policy: CascadePolicy = cascade) => {
      const draft = { "threshold 0": threshold };
      return beyondSays(prepareKnobs(policy, planned.policy, draft), prepareSlack(policy, planned, draft));
    };
    expect(says(70)).toBeNull();
    expect(says(78)).toBe(
      "This needs a new plan, which may have other replicas. Accept small from 78 is outside its approved range, 50 to 70.",
    );
    const wide = { ...cascade, approvedRanges: { thresholds: [{ min: 50, max: 90 }] } };
    expect(says(78, wide)).toMatch(/p95 up to \+60 % was not approved with the plan in force\.$/);
    expect(says(79, wide)).toBeNull();
  });

  it("is none without predicted settings, and of another policy than the plan's", () => {
    expect(prepareSlack(cascade, null, {})).toBeNull();
    expect(prepareSlack(cascade, planWith(cascade), {})).toBeNull();
    expect(prepareSlack(dispatch, planned, {})).toBeNull();
  });
});

describe("the slack of slack dispatch", () => {
  const plan = planWith(dispatch, { kind: "tau", steps: [step(0, { approved: false }), step(1), step(4, { approved: false })] });

  it("is tau, estimated between the plan's settings on a straight line, and approved inside its range", () => {
    const slack = prepareSlack(dispatch, plan, { tau: 2 })!;
    expect(slack).toMatchObject({ kind: "tau", min: 0, max: 4, approved: { from: 0.125, to: 0.5 } });
    expect(slack.chosen).toMatchObject({ position: 2, label: "τ 2", values: { tau: 2 }, approved: true });
    expect(slack.chosen.estimate.quality).toBeCloseTo(90, 9);
    expect(slack.chosen.estimate.share[1]).toBeCloseTo(0.6, 9);
    expect(slack.at(0)).toMatchObject({ approved: false, estimate: { quality: 70 } });
    expect(slack.at(4).estimate.quality).toBe(110);
    expect(slack.note).toBe("in force 1, planned 1, approved from 0.5 to 2");
  });
});
