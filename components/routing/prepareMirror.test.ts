import fc from "fast-check";
import { expect, it } from "vitest";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { prepareScores } from "./prepareMirror";

const policy: PolicyDocument = {
  kind: "cascade",
  stages: [{ model: "small" }, { model: "large" }],
  thresholds: [80],
  judge: { model: "j", secondsPerCall: 0.1, usdPerCall: 0 },
  order: { kind: "fcfs" },
  place: { kind: "least-load" },
  approvedRanges: { thresholds: [{ min: 0, max: 100 }] },
};
const counts = (at: Readonly<Record<number, number>>): number[] => Array.from({ length: 101 }, (_, score) => at[score] ?? 0);

it("stands scores beside the threshold of their stage, in the order of the stages", () => {
  const [small, large] = prepareScores({ scores: { large: counts({ 100: 2 }), small: counts({ 79: 3, 80: 1 }) } }, policy);
  expect(small).toMatchObject({ model: "small", threshold: 80, total: 4, acceptedShare: 0.25, mean: 79.25, highest: 3 });
  expect(large).toMatchObject({ model: "large", threshold: null, acceptedShare: null, total: 2 });
});

it("counts a score of 100 with the highest bar", () => {
  const [picture] = prepareScores({ scores: { small: counts({ 95: 1, 100: 2 }) } }, policy);
  expect(picture?.bars.at(-1)).toMatchObject({ from: 95, name: "95 to 100", count: 3 });
});

it("has models that the policy in force lacks behind its own, without a threshold", () => {
  const scores = { gone: counts({ 50: 1 }), small: counts({}) };
  expect(prepareScores({ scores }, policy).map(({ model, threshold }) => [model, threshold])).toEqual([
    ["small", 80],
    ["gone", null],
  ]);
  expect(prepareScores({ scores }, policy)[0]).toMatchObject({ mean: null, acceptedShare: null, total: 0 });
});

it("puts every answer into one bar", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { minLength: 101, maxLength: 101 }), (scores) => {
      const [picture] = prepareScores({ scores: { small: scores } }, policy);
      expect(picture?.bars.reduce((sum, bar) => sum + bar.count, 0)).toBe(picture?.total);
    }),
  );
});

it("names the gate that gave the scores, where the gateway says it", () => {
  const scores = { small: counts({ 50: 1 }), large: counts({ 60: 1 }) };
  expect(prepareScores({ scores, gates: { small: "confidence" } }, policy).map(({ gate }) => gate)).toEqual(["confidence", null]);
});
