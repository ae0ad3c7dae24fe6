import * as fc from "fast-check";
import { expect, test } from "vitest";
import { seededRandom } from "../numeric/random";
import { meanInterval, quantileInterval, shareInterval } from "./driftIntervals";

/** Autocorrelated normal values of mean 0 and spread 1. */
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

test("a share of requests that are all alike is not known exactly, and lies between 0 and 1", () => {
  const all = shareInterval(Array.from({ length: 20 }, () => 1 as const))!;
  expect(all).toMatchObject({ value: 1, high: 1, count: 20 });
  expect(all.low).toBeCloseTo(0.751, 2);
  const none = shareInterval(Array.from({ length: 20 }, () => 0 as const))!;
  expect(none.low).toBe(0);
  expect(none.high).toBeCloseTo(1 - all.low, 9);
  expect(shareInterval([])).toBeNull();
});

test("the interval of a share holds the true one, also where consecutive requests are alike", () => {
  const holds = (alike: number) => (seed: number) => {
    const { low, high } = shareInterval(Array.from(values(1000, alike, seed), (value) => (value > 1 ? 1 : 0)))!;
    return low <= 0.1587 && high >= 0.1587;
  };
  expect(share(holds(0))).toBeGreaterThan(0.98);
  expect(share(holds(0.9))).toBeGreaterThan(0.95);
});

test("too few values bound no p95 from above, and none give no figure", () => {
  expect(quantileInterval(values(40, 0, 1), 0.95)!.high).toBe(Number.POSITIVE_INFINITY);
  expect(meanInterval([3])).toMatchObject({ value: 3, high: Number.POSITIVE_INFINITY });
  expect(meanInterval([])).toBeNull();
  expect(quantileInterval([], 0.95)).toBeNull();
});
