import { expect, it } from "vitest";
import { type PolicyDocument, type SinglesPolicy, withSinglesPolicy } from "@/solver/plan/policySchema";
import { isTurned, knobTurn, plannedDraft, prepareKnobs } from "./prepareKnobs";
import { singlesText } from "./singlesText";

const judge = { model: "j", secondsPerCall: 0.1, usdPerCall: 0 };
const queueing = { order: { kind: "fcfs" }, place: { kind: "least-load" } } as const;
const cascade = (thresholds: number[]): PolicyDocument => ({
  kind: "cascade",
  stages: [{ model: "a" }, { model: "b" }, { model: "c" }],
  thresholds,
  judge,
  ...queueing,
  approvedRanges: {
    thresholds: [
      { min: 60, max: 90 },
      { min: 40, max: 70 },
    ],
  },
});
const slack: PolicyDocument = {
  kind: "slack",
  models: [
    { model: "a", decodeSecondsPerToken: 0.01, maxBatchSize: 8, confidence: 0.5 },
    { model: "b", decodeSecondsPerToken: 0.02, maxBatchSize: 8, confidence: 0.9 },
  ],
  tau: 0.5,
  deltaScore: 0.1,
  floorSeconds: 1,
  ...queueing,
  approvedRanges: { tau: { min: 0, max: 2 }, deltaScore: { min: 0, max: 0.3 } },
};

it("gives every judged stage a knob inside its approved range, with what is in force and what was planned", () => {
  const knobs = prepareKnobs(cascade([80, 50]), cascade([75, 50]), { "threshold 1": 55 });
  expect(knobs.map(({ label, current, planned, value }) => [label, current, planned, value])).toEqual([
    ["Accept a from", 80, 75, 80],
    ["Accept b from", 50, 50, 55],
  ]);
  expect(knobs[0]).toMatchObject({ min: 60, max: 90, step: 1 });
});

it("asks for all thresholds when one is moved, and for nothing when none is", () => {
  const policy = cascade([80, 50]);
  expect(knobTurn(policy, prepareKnobs(policy, null, { "threshold 1": 55 }))).toEqual({ thresholds: [80, 55] });
  expect(knobTurn(policy, prepareKnobs(policy, null, { "threshold 0": 80 }))).toBeNull();
});

it("asks only for the knob of slack dispatch that is moved", () => {
  const knobs = prepareKnobs(slack, null, { tau: 1.25 });
  expect(knobs.map(({ label, planned }) => [label, planned])).toEqual([
    ["Slack τ", null],
    ["Confidence margin", null],
  ]);
  expect(knobTurn(slack, knobs)).toEqual({ tau: 1.25 });
});

it("goes back to the plan's values, as far as they lie in the approved range", () => {
  expect(plannedDraft(prepareKnobs(cascade([80, 50]), cascade([75, 30]), {}))).toEqual({ "threshold 0": 75 });
  expect(plannedDraft(prepareKnobs(cascade([80, 50]), null, {}))).toEqual({});
});

it("has the knobs of requests outside workflows where rounds choose for the others", () => {
  const joint = (policy: PolicyDocument): PolicyDocument =>
    withSinglesPolicy(
      { kind: "just-in-time", models: [], workflows: [], selection: { kind: "beam", width: 4 }, ...queueing },
      policy as SinglesPolicy,
    );
  const policy = joint(cascade([80, 50]));
  const knobs = prepareKnobs(policy, joint(cascade([75, 50])), { "threshold 1": 55 });
  expect(knobs).toEqual(prepareKnobs(cascade([80, 50]), cascade([75, 50]), { "threshold 1": 55 }));
  expect(knobTurn(policy, knobs)).toEqual({ thresholds: [80, 55] });
  expect(knobTurn(joint(slack), prepareKnobs(joint(slack), null, { tau: 1.25 }))).toEqual({ tau: 1.25 });
  expect(singlesText(policy)).toBe("outside workflows a → b → c");
  expect(singlesText(joint(slack))).toBe("outside workflows a or b by slack dispatch");
  expect(singlesText(slack)).toBeNull();
});

it("has nothing to turn where every request goes to one model", () => {
  expect(prepareKnobs({ kind: "fixed", model: "a", ...queueing }, null, {})).toEqual([]);
});

it("calls turned the plan in force with another policy, and no other plan", () => {
  const plan = { id: "p", policyHash: "h" };
  expect(isTurned({ planId: "p", policyHash: "other" }, plan)).toBe(true);
  expect(isTurned({ planId: "p", policyHash: "h" }, plan)).toBe(false);
  expect(isTurned({ planId: "q", policyHash: "other" }, plan)).toBe(false);
  expect(isTurned(null, plan)).toBe(false);
});
