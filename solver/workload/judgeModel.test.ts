import fc from "fast-check";
import { expect, test } from "vitest";
import { mean } from "@/solver/numeric/quantile";
import { seededRandom } from "@/solver/numeric/random";
import { modelledScores } from "./judgeModel";

/** Share of pairs with different labels in which the better answer has the higher score, ties counted half: checks every pair. */
function concordance(label: Float64Array, judged: Float64Array): number {
  let pairs = 0;
  let right = 0;
  label.forEach((a, i) => {
    label.forEach((b, j) => {
      if (a <= b) return;
      pairs++;
      const lead = (judged[i] ?? 0) - (judged[j] ?? 0);
      right += lead > 0 ? 1 : lead === 0 ? 0.5 : 0;
    });
  });
  return right / pairs;
}

const labels = (count: number, draw: (random: ReturnType<typeof seededRandom>) => number): Float64Array => {
  const random = seededRandom(12);
  return Float64Array.from({ length: count }, () => draw(random));
};

const rightOrWrong = labels(5000, (random) => (random.next() < 0.7 ? 100 : 0));
/** Ten grades, most of them good: the distribution of answers that a judge grades 1..10. */
const graded = labels(2000, (random) => Math.round(Math.min(9, Math.max(0, 5.5 + 2 * random.normal()))) * (100 / 9));

test.each([0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1])("on 5000 right-or-wrong labels the stated AUC of %f is met within 0.02", (auc) => {
  const measured = concordance(rightOrWrong, modelledScores(rightOrWrong, { auc, seed: 1 }));
  expect(Math.abs(measured - auc)).toBeLessThan(0.02);
});

test.each([0.5, 0.7, 0.8, 0.9, 1])("on graded labels the better of two answers wins with the stated chance of %f", (auc) => {
  const measured = concordance(graded, modelledScores(graded, { auc, seed: 2 }));
  expect(Math.abs(measured - auc)).toBeLessThan(0.02);
});

test("the oracle reads the label and a coin does not see it", () => {
  expect(modelledScores(rightOrWrong, { auc: 1, seed: 1 })).toEqual(rightOrWrong);
  const coin = modelledScores(rightOrWrong, { auc: 0.5, seed: 1 });
  const scoresOf = (label: number) => mean(coin.filter((_, at) => rightOrWrong[at] === label));
  expect(Math.abs(scoresOf(100) - scoresOf(0))).toBeLessThan(3);
});

test("scores are integers 0..100 and follow from the seed, whatever the labels", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 1, maxLength: 60 }),
      fc.double({ min: 0.5, max: 1, noNaN: true }),
      fc.integer(),
      (values, auc, seed) => {
        const judged = modelledScores(Float64Array.from(values), { auc, seed });
        expect(judged.every((score) => Number.isInteger(score) && score >= 0 && score <= 100)).toBe(true);
        expect(judged).toEqual(modelledScores(Float64Array.from(values), { auc, seed }));
      },
    ),
  );
});

test("an AUC below a coin's or above the oracle's is refused", () => {
  expect(() => modelledScores(rightOrWrong, { auc: 0.4, seed: 1 })).toThrow("found 0.4");
  expect(() => modelledScores(rightOrWrong, { auc: 1.1, seed: 1 })).toThrow("found 1.1");
});
