import fc from "fast-check";
import { expect, test } from "vitest";
import { meanQuality, shareOf } from "../numeric/interval";
import { agreementOf, agreementOnPairs, calibrationOf } from "./agreement";
import { aucOf, aucWithin, concordanceOfPairs, labelsToHalve } from "./concordance";
import { type CascadeStep, floorFit } from "./floorFit";
import { answerOrder, pairOf } from "./labelOrder";
import { noisePoints, orderFlips } from "./noise";
import { pairCounts } from "./pairCounts";

const score = fc.integer({ min: 0, max: 100 });
const answers = fc.array(fc.record({ score, label: fc.constantFrom(0, 25, 50, 75, 100) }), { minLength: 1, maxLength: 60 });

test("an AUC is the share of pairs ordered rightly, ties half, within its interval", () => {
  expect(aucOf([])).toBeNull();
  expect(aucOf([{ score: 10, label: 100 }])).toBeNull();
  expect(aucOf([10, 20].map((each) => ({ score: each, label: 50 })))).toBeNull();
  const of = (...pairs: [number, number][]) => aucOf(pairs.map(([each, label]) => ({ score: each, label })))!.value;
  expect(of([90, 100], [10, 0])).toBe(1);
  expect(of([90, 100], [90, 0])).toBe(0.5);
  expect(of([90, 100], [50, 50], [60, 0])).toBeCloseTo(2 / 3, 12);
  fc.assert(
    fc.property(answers, (labelled) => {
      const auc = aucOf(labelled);
      if (auc === null) return true;
      return 0 <= auc.low && auc.low <= auc.value && auc.value <= auc.high && auc.high <= 1;
    }),
  );
});

test("pairs counted over a tree are those counted one by one", () => {
  fc.assert(
    fc.property(answers, (labelled) => {
      const { pairs, right } = pairCounts(labelled);
      for (const [at, { score: own, label }] of labelled.entries()) {
        const others = labelled.filter((other) => other.label !== label);
        expect(pairs[at]).toBe(others.length);
        const ordered = others.map((other) => (own === other.score ? 0.5 : own > other.score === label > other.label ? 1 : 0));
        expect(right[at]).toBe(ordered.reduce((sum: number, each) => sum + each, 0));
      }
    }),
  );
});

test("turned scores turn the AUC and its interval", () => {
  fc.assert(
    fc.property(answers, (labelled) => {
      const auc = aucOf(labelled);
      const turned = aucOf(labelled.map((each) => ({ ...each, score: 100 - each.score })));
      if (auc === null || turned === null) return auc === turned;
      expect(turned.value).toBeCloseTo(1 - auc.value, 9);
      expect(turned.low).toBeCloseTo(1 - auc.high, 9);
    }),
  );
});

test("within models a measure that only knows whose answer it reads is a coin, and one that knows right from wrong is not", () => {
  const of = (model: number, labels: readonly number[], scoreOf: (label: number) => number) =>
    labels.map((label) => ({ score: scoreOf(label) + model, label }));
  const names = [of(10, [0, 0, 0, 100], () => 0), of(80, [0, 100, 100, 100], () => 0)];
  expect(aucOf(names.flat())!.value).toBeGreaterThan(0.6);
  expect(aucWithin(names)!.value).toBe(0.5);
  const knows = [of(80, [0, 0, 0, 100], (label) => label / 10), of(10, [0, 100, 100, 100], (label) => label / 10)];
  expect(aucWithin(knows)!.value).toBe(1);
  expect(aucWithin([[{ score: 1, label: 100 }], [{ score: 0, label: 0 }]])).toBeNull();
});

test("four times the labels of the same kinds make an interval about half as wide", () => {
  const labelled = Array.from({ length: 50 }, (_, at) => ({ score: (at * 37) % 101, label: at % 3 === 0 ? 0 : 100 }));
  const width = (of: typeof labelled): number => aucOf(of)!.high - aucOf(of)!.low;
  const more = labelsToHalve([labelled])!;
  expect(more).toBeGreaterThan(120);
  expect(more).toBeLessThan(180);
  expect(width(Array.from({ length: 4 }, () => labelled).flat()) / width(labelled)).toBeCloseTo(0.5, 1);
});

test("pairs that were compared give shares of those where the measure says the same", () => {
  const pairs = [
    { difference: 20, preference: 50 },
    { difference: -5, preference: 50 },
    { difference: 0, preference: -50 },
    { difference: 0, preference: 0 },
  ];
  expect(concordanceOfPairs(pairs)?.value).toBe(0.5);
  expect(agreementOnPairs(pairs)?.value).toBe(0.5);
  expect(concordanceOfPairs([{ difference: 3, preference: 0 }])).toBeNull();
});

test("agreement and calibration hold scores against labels", () => {
  const labelled = [
    { score: 95, label: 100 },
    { score: 85, label: 0 },
    { score: 49.5, label: 25 },
    { score: 19.5, label: 0 },
  ];
  expect(agreementOf(labelled)?.value).toBe(0.75);
  expect(calibrationOf(labelled).map(({ from, to, labels, quality }) => [from, to, labels, quality.value])).toEqual([
    [0, 19, 1, 0],
    [40, 59, 1, 25],
    [80, 100, 2, 50],
  ]);
});

test("intervals hold what they are of, and Wilson's of a share is as it is printed", () => {
  expect(shareOf(0, 0)).toBeNull();
  expect(meanQuality([])).toBeNull();
  // Of 10 successes of 10 at 90 %: 10 / (10 + 1.6449^2).
  expect(shareOf(10, 10)?.low).toBeCloseTo(10 / (10 + 1.6449 ** 2), 6);
  expect(meanQuality([50, 50])).toEqual({ value: 50, low: 0, high: 100 });
  fc.assert(
    fc.property(fc.array(score, { minLength: 1, maxLength: 40 }), (qualities) => {
      const { value, low, high } = meanQuality(qualities)!;
      return 0 <= low && low <= value + 1e-9 && value <= high + 1e-9 && high <= 100;
    }),
  );
});

test("noise is what readings of one answer differ by, each order for itself", () => {
  const reading = (position: number, number: number, value: number | null) => ({ position, model: "m", reading: number, score: value });
  expect(noisePoints([reading(0, 0, 70), reading(1, 0, 80)], false)).toBeNull();
  expect(noisePoints([reading(0, 0, 70), reading(0, 1, 74), reading(1, 0, 80), reading(1, 1, 80)], false)).toBeCloseTo(2, 12);
  expect(noisePoints([reading(0, 0, 100), reading(0, 1, 0), reading(0, 2, 100), reading(0, 3, 0)], true)).toBe(0);
  expect(
    orderFlips([reading(0, 0, 100), reading(0, 1, 0), reading(1, 0, 50), reading(1, 1, 50), reading(2, 0, 100), reading(2, 1, null)]),
  ).toBe(0.5);
  expect(orderFlips([reading(0, 0, 100)])).toBeNull();
});

const unit = fc.double({ min: 0, max: 1, noNaN: true });
const step: fc.Arbitrary<CascadeStep> = fc.record({ quality: unit, largestWhereRight: unit, largestWhereWrong: unit });

test("a better judge is never found weaker than a worse one", () => {
  const rank = { weak: 0, unreachable: 0, fit: 1, unneeded: 2 };
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 3 }), unit, fc.tuple(unit, unit), (steps, floor, [a, b]) => {
      const [worse, better] = [Math.min(a, b), Math.max(a, b)];
      return rank[floorFit(steps, floor, better)] >= rank[floorFit(steps, floor, worse)];
    }),
    { numRuns: 200 },
  );
});

test("a judge is weak where it hardly beats a coin, and no judge is needed, or helps, where the models decide", () => {
  const steps = [{ quality: 0.5, largestWhereRight: 0.95, largestWhereWrong: 0.7 }];
  expect(floorFit(steps, 0.75, 0.5)).toBe("weak");
  expect(floorFit(steps, 0.75, 0.52)).toBe("weak");
  expect(floorFit(steps, 0.75, 0.8)).toBe("fit");
  expect(floorFit(steps, 0.4, 0.5)).toBe("unneeded");
  expect(floorFit(steps, 0.84, 0.7)).toBe("weak");
  expect(floorFit(steps, 0.84, 0.999)).toBe("fit");
  expect(floorFit(steps, 0.9, 1)).toBe("unreachable");
  expect(floorFit([], 0.5, 1)).toBe("unreachable");
});

test("the order of answers holds each once, hangs on the job alone, and shows models alike often", () => {
  const order = answerOrder("job", 400, 3);
  expect(Array.from(order).sort((a, b) => a - b)).toEqual(Array.from({ length: 1200 }, (_, at) => at));
  expect(answerOrder("job", 400, 3)).toEqual(order);
  expect(answerOrder("other", 400, 3)).not.toEqual(order);
  for (const model of [0, 1, 2]) {
    const early = order.subarray(0, 300).filter((at) => at % 3 === model).length;
    expect(Math.abs(early - 100)).toBeLessThan(30);
  }
});

test("pairs are of two models, the compared one among them, as often first as second", () => {
  const pairs = Array.from({ length: 300 }, (_, at) => pairOf("job", at, ["a", "b", "c"], "b")!);
  expect(pairs.every(([first, second]) => first !== second && (first === "b" || second === "b"))).toBe(true);
  expect(Math.abs(pairs.filter(([first]) => first === "b").length - 150)).toBeLessThan(40);
  const any = Array.from({ length: 300 }, (_, at) => pairOf("job", at, ["a", "b", "c"], null)!);
  for (const model of ["a", "b", "c"]) expect(Math.abs(any.filter(([first]) => first === model).length - 100)).toBeLessThan(35);
  expect(pairOf("job", 0, ["a"], null)).toBeNull();
});
