import { expect, it } from "vitest";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { testPredictions } from "../testing/testRounds";
import { preparePredictions } from "./preparePredictions";

const policyOf = (predictor?: string) => ({ kind: "just-in-time", workflows: [{ predictor }] }) as unknown as PolicyDocument;
const none = {
  whole: 0,
  partial: 0,
  none: 0,
  unasked: 0,
  meanMs: null,
  meanBudgetMs: null,
  evaluatedShare: null,
  waitedFor: { search: 0, engine: 0 },
};

it("tells searches by what came of them, and searches that nothing came of by their cause", () => {
  const { figures } = preparePredictions(testPredictions, null);
  expect(figures.map(({ value }) => value.replace(/\s/g, " "))).toEqual(["90", "7", "2", "1", "3.2 ms", "12", "31 %"]);
  expect(figures[0]?.detail.replace(/\s/g, " ")).toBe("90 % of searches");
  expect(figures[5]?.detail).toBe("of 240 requests; the others waited longer for an engine");
  expect(preparePredictions(none, null).figures[0]?.detail).toBe("no search yet");
  expect(preparePredictions({ ...none, none: 3 }, null).says).toContain("too little time");
  expect(preparePredictions({ ...none, none: 3 }, null).says).not.toContain("not available while it loads");
  expect(preparePredictions({ ...none, unasked: 3 }, null).says).toContain("not available while it loads");
});

it("says where the plan in force names no predictor, and whose searches are counted then", () => {
  expect(preparePredictions(testPredictions, policyOf("f".repeat(64))).says).not.toContain("names no predictor");
  expect(preparePredictions(testPredictions, policyOf()).says).toContain("from earlier plans");
  expect(preparePredictions(none, policyOf()).says).toBe(
    "The plan in force names no predictor, so only the largest models count as accurate.",
  );
});

it("says whose answers the plan in force has scored and by what, and nothing of scores where none is", () => {
  const callGates = [{ model: "small-8b", gate: { kind: "confidence", measure: "mean" }, prior: 0.6 }];
  const policy = { ...policyOf("f".repeat(64)), callGates } as unknown as PolicyDocument;
  expect(preparePredictions(none, policy).says).toBe(
    "Scores of agents' answers change which count as accurate: those of small-8b by mean token probability.",
  );
  expect(preparePredictions(none, policyOf("f".repeat(64))).says).toBe("");
});
