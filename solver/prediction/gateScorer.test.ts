import { describe, expect, it } from "vitest";
import { gateSchema } from "@/solver/gates/gateDocument";
import { aucOf } from "@/solver/judging/concordance";
import { seededRandom } from "@/solver/numeric/random";
import { crossFittedScores, type ScorerRows, scoresOf, trainScorer } from "./gateScorer";

/** Answers that are right more often the surer and the shorter they are; one in ten without log probabilities. */
function rowsOf(count: number, seed: number): ScorerRows {
  const random = seededRandom(seed);
  const facts = Array.from({ length: count }, () => [random.next() < 0.1 ? null : random.next(), 3 + random.normal()] as const);
  const chance = (sure: number | null, length: number) => 1 / (1 + Math.exp(-(5 * ((sure ?? 0.5) - 0.5) - (length - 3))));
  const labels = facts.map(([sure, length]) => (random.next() < chance(sure, length) ? 100 : 0));
  return { features: ["minimum-probability", "log-answer-tokens"], facts, labels };
}

const aucOfScores = (scores: Float64Array, { labels }: ScorerRows) =>
  aucOf(Array.from(scores, (score, at) => ({ score, label: labels[at] ?? 0 })))?.value ?? Number.NaN;

describe("trainScorer", () => {
  it("orders fresh answers by what makes them right, and writes a document's part", () => {
    const scorer = trainScorer(rowsOf(1000, 1), 1);
    const fresh = rowsOf(1000, 2);
    expect(aucOfScores(scoresOf(scorer, fresh), fresh)).toBeGreaterThan(0.8);
    expect(scorer.weights.map(({ weight }) => Math.sign(weight))).toEqual([1, -1]);
    expect(gateSchema.parse({ kind: "scorer", answer: "number", ...scorer })).toMatchObject({ kind: "scorer" });
  });

  it("has finite weights where all labels are the same, or a feature never varies", () => {
    const constant = { features: ["ended-by-length"] as const, facts: Array(40).fill([0]), labels: Array(40).fill(100) };
    const scorer = trainScorer(constant, 1);
    expect(gateSchema.safeParse({ kind: "scorer", answer: "whole", ...scorer }).success).toBe(true);
    expect(scoresOf(scorer, constant)[0]).toBeGreaterThan(90);
  });
});

describe("crossFittedScores", () => {
  it("does not let an answer's own label move its score", () => {
    const rows = rowsOf(60, 3);
    const turned = { ...rows, labels: Array.from(rows.labels, (label, at) => (at === 7 ? 100 - label : label)) };
    const [before, after] = [rows, turned].map((each) => crossFittedScores(each, { folds: 5, seed: 1 }));
    expect(after?.[7]).toBe(before?.[7]);
    expect(after).not.toEqual(before);
  });

  it("is about as good on its own answers as the whole scorer on fresh ones", () => {
    const [rows, fresh] = [rowsOf(1000, 4), rowsOf(1000, 5)];
    const own = aucOfScores(crossFittedScores(rows, { folds: 5, seed: 1 }), rows);
    expect(Math.abs(own - aucOfScores(scoresOf(trainScorer(rows, 1), fresh), fresh))).toBeLessThan(0.05);
  });
});
