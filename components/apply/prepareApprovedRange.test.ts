import { expect, it } from "vitest";
import type { SlackStep } from "@/solver/plan/planSlack";
import { type PolicyDocument, type SinglesPolicy, type SlackPolicy, withSinglesPolicy } from "@/solver/plan/policySchema";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { prepareApprovedRange } from "./prepareApprovedRange";

const example = examplePlanDraft();
const step = (value: number, threshold: number, approved: boolean): SlackStep => {
  return {
    value,
    thresholds: [threshold],
    quality: 70 + 10 * value,
    qualityLow: 68 + 10 * value,
    p95Seconds: 2 + value,
    share: [1, 0.4],
    approved,
  };
};
const steps = [step(0, 60, true), step(0.2, 66, true), step(0.35, 70, true), step(0.6, 78, false), step(1, 85, false)];
const cascade = { ...example, predictions: { ...example.predictions, slack: { kind: "p95" as const, steps } } };

it("says in one sentence what is approved with a cascade, and marks which settings need a new plan", () => {
  const range = prepareApprovedRange(cascade)!;
  expect(range.says).toBe("Approved with this plan: threshold 50–70; slack 0–35 %.");
  expect(range.rows.map(({ state }) => state)).toEqual(["planned", "approved", "approved", "needs a new plan", "needs a new plan"]);
  expect(range).toMatchObject({ hasBeyond: true, shareOf: "large", kind: "p95" });
  expect(range.rows[1]).toMatchObject({ thresholds: "66", quality: "72.0 (at least 70.0)" });
});

it("says the ranges of requests outside workflows where rounds choose for the others, without another policy's figures", () => {
  const { policy } = example;
  const rounds: PolicyDocument = {
    ...{ kind: "just-in-time", models: [], workflows: [], selection: { kind: "beam", width: 4 } },
    ...{ order: policy.order, place: policy.place },
  };
  const range = prepareApprovedRange({ ...cascade, policy: withSinglesPolicy(rounds, policy as SinglesPolicy) })!;
  expect(range.says).toMatch(/^Approved with this plan, for requests outside workflows: threshold 50–70\. Nothing predicts/);
  expect(range).toMatchObject({ rows: [], picture: null });
  expect(prepareApprovedRange({ ...cascade, policy: rounds })).toBeNull();
});

it("draws the approved part solid, the rest dashed from its neighbour on, and the planned setting by itself", () => {
  const { lines, x, y } = prepareApprovedRange(cascade)!.picture!;
  expect(lines.map(({ dash, labelled }) => [labelled.letter, dash === ""])).toEqual([
    ["A", true],
    ["N", false],
    ["P", true],
  ]);
  const ends = (path: string) => path.split(/[ML]/).slice(1);
  expect(ends(lines[1]!.path)[0]).toBe(ends(lines[0]!.path).at(-1));
  expect(ends(lines[1]!.path)).toHaveLength(3);
  expect(ends(lines[2]!.path)).toEqual([ends(lines[0]!.path)[0]]);
  expect([x.title, y.title]).toEqual(["p95 end to end", "Quality"]);
});

it("says the ranges of tau and of the margin of slack dispatch", () => {
  const policy: SlackPolicy = {
    ...{ kind: "slack", tau: 1, deltaScore: 0.1, floorSeconds: 0.5, order: { kind: "fcfs" }, place: { kind: "least-load" } },
    models: ["small", "large"].map((model) => ({ model, decodeSecondsPerToken: 0.01, maxBatchSize: 8, confidence: 0.5 })),
    approvedRanges: { tau: { min: 0.5, max: 2 }, deltaScore: { min: 0.1, max: 0.1 } },
  };
  const own = [0, 1, 4].map((tau) => ({
    value: tau,
    quality: 70,
    qualityLow: 68,
    p95Seconds: 2 + tau,
    share: [0.6, 0.4],
    approved: tau === 1,
  }));
  const range = prepareApprovedRange({ policy, predictions: { ...example.predictions, slack: { kind: "tau", steps: own } } })!;
  expect(range.says).toBe("Approved with this plan: slack τ 0.5–2; confidence margin 0.1.");
  expect(range.rows.map(({ slack, state }) => [slack, state])).toEqual([
    ["τ 0", "needs a new plan"],
    ["τ 1", "planned"],
    ["τ 4", "needs a new plan"],
  ]);
});

it("shows nothing of a plan that predicts no other setting", () => {
  expect(prepareApprovedRange(example)).toBeNull();
});
