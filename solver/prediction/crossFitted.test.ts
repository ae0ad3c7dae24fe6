import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ConfidenceRows, scoreRows, trainConfidence } from "./confidence";
import { crossFittedConfidence, foldsOf } from "./crossFitted";
import { separation } from "./heldOut";
import { testConfidenceRows, testPrompts } from "./testing/testRows";

const rows = testConfidenceRows(120, 1);

/** The same prompts with vectors whose second number identifies riddles. */
function embedded(of: ConfidenceRows, seed: number): ConfidenceRows {
  const values = Float32Array.from(
    testPrompts(of.facts.length, seed).flatMap(({ isHard, noise }) => [3 + noise, isHard ? 40 : 20, -noise]),
  );
  return { ...of, embeddings: { encoder: { name: "tiny", sha256: "5".repeat(64) }, dimensions: 3, values } };
}

function withLabel(of: ConfidenceRows, model: number, row: number, label: number): ConfidenceRows {
  return { ...of, right: of.right.map((labels, at) => (at === model ? labels.map((own, each) => (each === row ? label : own)) : labels)) };
}

const ofRow = (scores: Float32Array, row: number): number[] => [...scores.slice(2 * row, 2 * row + 2)];

describe("out-of-fold confidence", () => {
  for (const [read, given] of [
    ["words", rows],
    ["embeddings", embedded(rows, 1)],
  ] as const)
    it(`of heads that read ${read}: a row's own label does not influence its score, and does influence others`, () => {
      fc.assert(
        fc.property(
          fc.nat(119),
          fc.nat(1),
          fc.constantFrom("flipped", "unknown"),
          fc.integer({ min: 2, max: 5 }),
          (row, model, to, folds) => {
            const label = to === "unknown" ? Number.NaN : 1 - (given.right[model]?.[row] ?? 0);
            const before = crossFittedConfidence(given, { folds, seed: 7 });
            const after = crossFittedConfidence(withLabel(given, model, row, label), { folds, seed: 7 });
            expect(ofRow(after, row)).toEqual(ofRow(before, row));
            expect(after).not.toEqual(before);
          },
        ),
        { numRuns: 4 },
      );
    });

  it("is 0 to 1 for every row and model, whatever is known of them", () => {
    const label = fc.constantFrom(0, 1, Number.NaN);
    const labels = fc.array(label, { minLength: 12, maxLength: 12 }).map((values) => Float32Array.from(values));
    fc.assert(
      fc.property(fc.tuple(labels, labels), fc.integer({ min: 2, max: 20 }), fc.nat(), (right, folds, seed) => {
        const scores = crossFittedConfidence({ ...rows, facts: rows.facts.slice(0, 12), right }, { folds, seed });
        expect(scores).toHaveLength(24);
        for (const score of scores) expect(score >= 0 && score <= 1).toBe(true);
      }),
      { numRuns: 10 },
    );
  });

  it("is the same for the same seed, and another for another", () => {
    const scores = crossFittedConfidence(rows, { folds: 3, seed: 1 });
    expect(crossFittedConfidence(rows, { folds: 3, seed: 1 })).toEqual(scores);
    expect(crossFittedConfidence(rows, { folds: 3, seed: 2 })).not.toEqual(scores);
  });

  it("does not tell random labels apart, where heads tell those that they were trained on", () => {
    const prompts = testConfidenceRows(300, 9);
    const random = { ...prompts, right: prompts.right.map((labels) => labels.map((_, row) => labels[(row * 37 + 11) % 300] ?? 0)) };
    const own = separation(random.models, scoreRows(trainConfidence(random, { seed: 1 }), random), random);
    const fit = { folds: 3, seed: 1 };
    const outOfFold = separation(random.models, crossFittedConfidence(random, fit), random, foldsOf(300, fit));
    for (const [model, { auc }] of outOfFold.entries()) {
      expect(Math.abs(auc - 0.5)).toBeLessThan(0.1);
      expect(own[model]?.auc ?? 0).toBeGreaterThan(auc);
    }
  });

  it("tells prompts apart about as well as heads do on fresh prompts", () => {
    const [known, fresh] = [testConfidenceRows(400, 1), testConfidenceRows(2000, 5)];
    const [expected] = separation(known.models, scoreRows(trainConfidence(known, { seed: 1 }), fresh), fresh);
    const fit = { folds: 3, seed: 1 };
    const [found] = separation(known.models, crossFittedConfidence(known, fit), known, foldsOf(400, fit));
    expect(Math.abs((found?.auc ?? 0) - (expected?.auc ?? 1))).toBeLessThan(0.06);
  });

  it("is undecided about a model of which only the row's own outcome is known", () => {
    const right = [rows.right[0] ?? new Float32Array(), new Float32Array(120).fill(Number.NaN).fill(1, 5, 6)];
    const scores = crossFittedConfidence({ ...rows, right }, { folds: 3, seed: 1 });
    expect(ofRow(scores, 5)[1]).toBe(0.5);
    expect(ofRow(scores, 5)[0]).not.toBe(0.5);
  });
});

describe("folds", () => {
  it("have every row once, in nearly equal parts", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 300 }), fc.integer({ min: 2, max: 12 }), fc.nat(), (count, folds, seed) => {
        const parts = foldsOf(count, { folds, seed });
        expect(parts).toHaveLength(Math.min(folds, count));
        expect(parts.flatMap((part) => [...part]).sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, row) => row));
        const sizes = parts.map(({ length }) => length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("need two rows and two parts", () => {
    expect(() => foldsOf(1, { folds: 5, seed: 1 })).toThrow("at least 2 rows and 2 folds, found 1 and 5");
    expect(() => foldsOf(9, { folds: 1, seed: 1 })).toThrow("at least 2 rows");
  });
});
