import { describe, expect, it } from "vitest";
import { generatedWorkload } from "@/solver/workload/generated";
import { gateCandidates } from "./gateCandidates";
import { isRefused } from "./gateRefusal";
import { observedColumns } from "./observedColumns";
import { stageGate } from "./stageGate";
import { tableScores } from "./tableScorer";
import { withColumns } from "./testing/gateColumns";

const workload = { ...withColumns(generatedWorkload({ prompts: 300, seed: 5 }), { samples: 4 }), judge: { kind: "measured" as const } };
const { outcomes } = workload;
const models = outcomes.models.map(({ model }) => model);
const [own] = outcomes.models;
if (own === undefined) throw new Error("a ladder has models");
const candidates = gateCandidates(workload, models, () => true);
const documentOf = (kind: string) => {
  const document = candidates.find((one) => one.kind === kind)?.documents?.[own.model];
  if (document === undefined) throw new Error(kind);
  return document;
};
const lengths = (row: number) => ({ inputTokens: outcomes.inputTokens[row] ?? 0, outputTokens: own.outputTokens[row] ?? 0 });

describe("raw scores of a gate in the columns of a workload", () => {
  it("are what the gate reads, for each gate of a sequence, and nothing where it gave none", () => {
    expect(observedColumns(documentOf("confidence"), [37.5], lengths(0))).toEqual({ confidence: 37.5 });
    expect(observedColumns(documentOf("agreement"), [75], lengths(0))).toEqual({ agreement: 75 });
    expect(observedColumns({ kind: "judge" }, [60], lengths(0))).toEqual({ judged: 60 });
    expect(observedColumns(documentOf("sequence"), [40, 60], lengths(0))).toEqual({ confidence: 40, judged: 60 });
    expect(observedColumns(documentOf("sequence"), [95, null], lengths(0))).toEqual({ confidence: 95 });
  });

  it("of a scorer of a table's columns are the confidence that it read", () => {
    const document = documentOf("scorer");
    if (document.kind !== "scorer") throw new Error(document.kind);
    const { heldOut } = { heldOut: [...own.label.keys()] };
    const scores = tableScores(workload, own, { scorer: document });
    const gate = stageGate(workload, own.model, document);
    expect(isRefused(gate)).toBe(false);
    // Scores of planning prompts are cross-fitted, by other weights.
    const errors = heldOut.map((row) => {
      const { confidence } = observedColumns(document, [scores[row] ?? 0], lengths(row));
      return Math.abs((confidence ?? 0) - (own.confidence?.[row] ?? 0));
    });
    expect(errors.filter((error) => error < 0.01).length).toBeGreaterThan(0.25 * errors.length);
    expect(errors.sort((a, b) => a - b)[Math.floor(errors.length / 2)]).toBeLessThan(5);
  });

  it("are unknown where a scorer reads what no table holds, or an answer's length is not known", () => {
    const document = documentOf("scorer");
    if (document.kind !== "scorer") throw new Error(document.kind);
    expect(observedColumns(document, [50], { inputTokens: null, outputTokens: 10 })).toEqual({});
    const other = { ...document, weights: [...document.weights, { feature: "ended-by-length" as const, mean: 0, scale: 1, weight: 1 }] };
    expect(observedColumns(other, [50], lengths(0))).toEqual({});
  });
});
