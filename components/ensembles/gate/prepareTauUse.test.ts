import { describe, expect, it } from "vitest";
import { AGGREGATE_ALL, ensembleSchema } from "@/solver/ensemble/gate/ensembleDocument";
import { testEnsemble, testReport } from "../testing/testGate";
import { changesTauAlone, prepareTauUse } from "./prepareTauUse";

type Gate = Parameters<typeof prepareTauUse>[1];

const gate = (change: Partial<Gate> = {}): Gate => ({
  experts: ["c-7b", "a-1b", "b-3b"],
  expertsPerQuestion: 3,
  confidence: "plurality",
  ...change,
});

describe("using a tau that was tried", () => {
  it("changes tau alone where the gate was tried as the ensemble is", () => {
    const use = prepareTauUse(testEnsemble(), gate(), testReport(), 2 / 3);
    if (!use.ok) throw new Error(use.says);
    expect(use).toEqual({ ok: true, ensemble: testEnsemble({ tau: 2 / 3 }), notes: [] });
    expect(changesTauAlone(testEnsemble(), use.ensemble)).toBe(true);
  });

  it("brings the sample's figures with a confidence that weighs votes, says so, and makes an ensemble that can be kept", () => {
    for (const confidence of ["accuracy-weighted", "length-aware"] as const) {
      const use = prepareTauUse(testEnsemble(), gate({ confidence }), testReport(), 0.8);
      if (!use.ok) throw new Error(use.says);
      expect(ensembleSchema.safeParse(use.ensemble).success).toBe(true);
      expect(use.notes[0]).toContain(`becomes agreement weighed by ${confidence === "length-aware" ? "length" : "accuracy"}, `);
      expect(changesTauAlone(testEnsemble(), use.ensemble)).toBe(false);
    }
  });

  it("is refused for another ensemble than the one that was tried", () => {
    const other = testEnsemble({ experts: ["a-1b", "b-3b", "x-7b"] });
    expect(prepareTauUse(other, gate(), testReport(), 1)).toMatchObject({
      ok: false,
      says: expect.stringContaining("other experts"),
    });
    const fewer = testEnsemble({ expertsPerQuestion: 2 });
    expect(prepareTauUse(fewer, gate(), testReport(), 1)).toMatchObject({ ok: false, says: expect.stringContaining("2 experts") });
  });

  it("takes aggregating all as a tau like any other", () => {
    const use = prepareTauUse(testEnsemble(), gate(), testReport(), AGGREGATE_ALL);
    if (!use.ok) throw new Error(use.says);
    expect(ensembleSchema.parse(use.ensemble).tau).toBe(AGGREGATE_ALL);
    expect(changesTauAlone(testEnsemble(), use.ensemble)).toBe(true);
  });

  it("says that an ensemble without skills recruits otherwise than the sample", () => {
    const two = testEnsemble({ expertsPerQuestion: 2 });
    const use = prepareTauUse(two, gate({ expertsPerQuestion: 2 }), testReport(), 1);
    expect(use.ok && use.notes[0]).toContain("no skills");
    const skilled = { ...two, skills: { "*": { "a-1b": 0.5 } } };
    expect(prepareTauUse(skilled, gate({ expertsPerQuestion: 2 }), testReport(), 1)).toMatchObject({ notes: [] });
  });
});
