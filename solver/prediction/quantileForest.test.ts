import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import type { FeatureMatrix } from "./binnedFeatures";
import { type ForestOptions, forestMedians, growForest } from "./quantileForest";

const options: ForestOptions = { trees: 60, rowsPerTree: 2000, minLeafRows: 15, leafTargets: 1000, featureShare: 0.7, seed: 1 };

const matrixOf = (rows: readonly (readonly number[])[]): FeatureMatrix => ({
  rows: rows.length,
  features: rows[0]!.length,
  values: Float32Array.from(rows.flat()),
});

/** Targets with a median of 10 + 5 x, twice that where z is 1, and a long tail above; y has no influence. */
function skewed(count: number, seed: number) {
  const random = seededRandom(seed);
  const rows = Array.from({ length: count }, () => [random.next() * 4, random.next(), random.int(2)]);
  const medians = rows.map(([x, , z]) => (10 + 5 * x!) * (1 + z!));
  const targets = Float32Array.from(medians, (median) => median * Math.exp(random.normal() * (random.next() < 0.5 ? 0.1 : 1.2)));
  return { matrix: matrixOf(rows), medians, targets };
}

describe("a quantile regression forest", () => {
  it("predicts the conditional median, which long tails do not move", () => {
    const { matrix, targets } = skewed(4000, 1);
    const fresh = skewed(300, 2);
    const predicted = forestMedians(growForest(matrix, targets, options), fresh.matrix);
    const errors = fresh.medians.map((median, at) => Math.abs(predicted[at]! / median - 1));
    expect(errors.reduce((sum, error) => sum + error, 0) / errors.length).toBeLessThan(0.06);
    // The conditional means are 1.5 times the medians.
    const bias = fresh.medians.reduce((sum, median, at) => sum + predicted[at]! / median, 0) / 300;
    expect(Math.abs(bias - 1)).toBeLessThan(0.03);
  });

  it("predicts medians that were targets, each within those of its rows", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 1, max: 9 })), { minLength: 1, maxLength: 80 }),
        (pairs) => {
          const matrix = matrixOf(pairs.map(([x]) => [x]));
          const targets = Float32Array.from(pairs, ([, y]) => y);
          const predicted = forestMedians(growForest(matrix, targets, { ...options, trees: 7, minLeafRows: 2, rowsPerTree: 50 }), matrix);
          const known = new Set(targets);
          expect(predicted.every((value) => known.has(value))).toBe(true);
        },
      ),
    );
  });

  it("is the pooled median of its leaves' targets, each leaf weighing the same", () => {
    const { matrix, targets } = skewed(400, 4);
    const forest = growForest(matrix, targets, { ...options, trees: 9 });
    const predicted = forestMedians(forest, matrix);
    for (let row = 0; row < 40; row++) {
      const weighed: { target: number; weight: number }[] = [];
      for (const root of forest.roots) {
        let node: number = root;
        while (forest.feature[node]! >= 0) {
          const goesLeft = matrix.values[row * matrix.features + forest.feature[node]!]! <= forest.threshold[node]!;
          node = forest.next[node]! + (goesLeft ? 0 : 1);
        }
        const leaf = forest.next[node]!;
        const ranks = forest.ranks.subarray(forest.leafStart[leaf], forest.leafStart[leaf + 1]);
        for (const rank of ranks) weighed.push({ target: forest.targets[rank]!, weight: 1 / ranks.length / forest.roots.length });
      }
      weighed.sort((a, b) => a.target - b.target);
      let below = 0;
      const median = weighed.find(({ weight }) => {
        below += weight;
        return below >= 0.5 - 1e-9;
      });
      expect(predicted[row]).toBe(median?.target);
    }
  });

  it("does not change where a feature is rescaled in its order, nor its order where targets are", () => {
    const { matrix, targets } = skewed(600, 5);
    const rescaled = { ...matrix, values: matrix.values.map((value) => value ** 3 * 8) };
    const plain = growForest(matrix, targets, { ...options, trees: 10 });
    expect(forestMedians(growForest(rescaled, targets, { ...options, trees: 10 }), rescaled)).toEqual(forestMedians(plain, matrix));
    const doubled = growForest(
      matrix,
      targets.map((target) => 2 * target),
      { ...options, trees: 10 },
    );
    expect(forestMedians(doubled, matrix)).toEqual(forestMedians(plain, matrix).map((value) => 2 * value));
  });

  it("grows the same trees from the same seed, and others from another", () => {
    const { matrix, targets } = skewed(300, 6);
    expect(growForest(matrix, targets, options)).toEqual(growForest(matrix, targets, options));
    expect(growForest(matrix, targets, { ...options, seed: 2 })).not.toEqual(growForest(matrix, targets, options));
  });

  it("keeps leaves of the asked size", () => {
    const { matrix, targets } = skewed(500, 7);
    const { leafStart } = growForest(matrix, targets, options);
    const sizes = Array.from(leafStart.subarray(1), (end, leaf) => end - leafStart[leaf]!);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(options.minLeafRows);
  });

  it("predicts nearly the same medians where leaves keep few of their targets", () => {
    const { matrix, targets } = skewed(2000, 8);
    const all = forestMedians(growForest(matrix, targets, options), matrix);
    const few = forestMedians(growForest(matrix, targets, { ...options, leafTargets: 7 }), matrix);
    const apart = all.map((median, row) => Math.abs(few[row]! / median - 1));
    expect(apart.reduce((sum, value) => sum + value, 0) / apart.length).toBeLessThan(0.01);
  });

  it("needs rows", () => {
    expect(() => growForest({ rows: 0, features: 1, values: new Float32Array() }, new Float32Array(), options)).toThrow("needs rows");
  });
});
