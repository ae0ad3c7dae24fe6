import { describe, expect, it } from "vitest";
import { candidatesFor } from "@/solver/cascade/choose/choose";
import { noConstraints } from "../address/constraintsCodec";
import { findRouting } from "../planning/findRouting";
import { around, searched, testKnobs } from "../testing/testTables";
import { choiceProblem, stageRules } from "./choiceProblem";

const view = { constraints: noConstraints, judge: null, judgeSeconds: null, router: null };
const rules = stageRules(searched, { kind: "embedded", name: "Lab" }, view);
const problemOf = (models: readonly string[], thresholds: readonly number[], own = rules, knobs = testKnobs) => {
  const tables = { exploration: searched, candidates: candidatesFor(searched, knobs), lines: around };
  return choiceProblem({ models, thresholds }, findRouting({ models, thresholds }, tables, knobs), knobs, own);
};

describe("choiceProblem", () => {
  it("finds nothing wrong with what can be planned, nor with what the tables do not have yet", () => {
    expect(problemOf(["small", "middle"], [40])).toBeNull();
    expect(problemOf(["middle", "large"], [40])).toBeNull();
  });

  it("says of an attached cluster that a stage has no engine", () => {
    const attached = stageRules(searched, { kind: "endpoints", name: "Cellar" }, view);
    expect(problemOf(["small", "huge"], [40], attached)).toBe("No engine of huge is attached to Cellar, so it cannot be a stage.");
    expect(problemOf(["small", "huge"], [40])).toBe("huge is not among the models to plan with: small, middle, large.");
  });

  it("says that a model is excluded, judges, or fits nowhere", () => {
    const excluded = { ...view, constraints: { ...noConstraints, excluded: ["huge"] } };
    expect(problemOf(["small", "huge"], [40], { ...rules, view: excluded })).toContain("excluded by a constraint");
    const judge = { model: "huge", rubricTokens: 1, outputTokens: 1 };
    expect(problemOf(["small", "huge"], [40], { ...rules, view: { ...view, judge } })).toContain("judges answers here");
    const nowhere = { ...rules, ladder: { ...rules.ladder, leastGpus: [1, 2, 0] } };
    expect(problemOf(["small", "large"], [40], nowhere)).toBe("large fits on no replica that the GPUs here allow: leave it out.");
  });

  it("says which stage no request reaches, and what would change that", () => {
    expect(problemOf(["small", "middle"], [7])).toBe(
      "Every answer of small scores 7 or more on this workload, so no request reaches middle: raise the threshold or leave middle out.",
    );
  });

  it("says that there are too few GPUs for a replica of each model", () => {
    expect(problemOf(["small", "large"], [60], rules, { ...testKnobs, maxGpus: 4 })).toBe(
      "small > large needs 5 GPUs for one replica of each of its models, of 4 there are. Allow more GPUs or leave a model out.",
    );
  });
});
