import * as fc from "fast-check";
import { expect, test } from "vitest";
import { seededRandom } from "../numeric/random";
import { meanInterval, quantileInterval } from "./driftIntervals";

/** Normal values of mean 0 and spread 1, each so much like the one before. */
function values(count: number, alike: number, seed: number): Float64Array {
  const random = seededRandom(seed);
  let last = random.normal();
  return Float64Array.from({ length: count }, () => {
    last = alike * last + Math.sqrt(1 - alike ** 2) * random.normal();
    return last;
  });
}

const share = (holds: (seed: number) => boolean): number =>
  Array.from({ length: 400 }, (_, seed) => holds(seed)).filter(Boolean).length / 400;

test("the interval of a mean holds the true one, also where consecutive values are alike", () => {
  const holds = (alike: number) => (seed: number) => {
    const { low, high } = meanInterval(values(1000, alike, seed))!;
    return low <= 0 && high >= 0;
  };
  expect(share(holds(0))).toBeGreaterThan(0.98);
  expect(share(holds(0.9))).toBeGreaterThan(0.97);
});

test("the interval of a p95 holds the true one, also where consecutive values are alike", () => {
  const p95 = 1.6449;
  const holds = (alike: number) => (seed: number) => {
    const { low, high } = quantileInterval(values(1000, alike, seed), 0.95)!;
    return low <= p95 && high >= p95;
  };
  expect(share(holds(0))).toBeGreaterThan(0.98);
  expect(share(holds(0.9))).toBeGreaterThan(0.95);
});

test("a figure lies inside its interval, which is narrower the more was seen", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e4, noNaN: true }), { minLength: 1, maxLength: 300 }), (seen) => {
      for (const figure of [meanInterval(seen), quantileInterval(seen, 0.95)]) {
        expect(figure!.low).toBeLessThanOrEqual(figure!.value + 1e-9);
        expect(figure!.high).toBeGreaterThanOrEqual(figure!.value - 1e-9);
      }
    }),
  );
  const width = (count: number) => {
    const { low, high } = meanInterval(values(count, 0, 1))!;
    return high - low;
  };
  expect(width(4000)).toBeLessThan(0.7 * width(1000));
});

test("too few values bound no p95 from above, and none give no figure", () => {
  expect(quantileInterval(values(40, 0, 1), 0.95)!.high).toBe(Number.POSITIVE_INFINITY);
  expect(meanInterval([3])).toMatchObject({ value: 3, high: Number.POSITIVE_INFINITY });
  expect(meanInterval([])).toBeNull();
  expect(quantileInterval([], 0.95)).toBeNull();
});
