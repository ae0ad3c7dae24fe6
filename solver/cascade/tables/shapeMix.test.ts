import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rateWithin } from "@/solver/engine/loadCurve";
import { capacityTable, latencyByGpus, replicasFor } from "./capacityTable";
import { capacityWithin, type ShapeCurve, shapesWithin } from "./shapeMix";

/** An artificial curve: latency rises from `fast` seconds, ever more steeply, up to `highest` requests/s. */
function shape(gpus: number, highest: number, fast: number): ShapeCurve {
  const rates = Float64Array.from([0.1, 0.5, 0.8, 1], (share) => share * highest);
  return {
    gpu: "a",
    shape: { tp: gpus, pp: 1 },
    gpus,
    curve: {
      rates,
      seconds: Float64Array.from([1, 1.2, 1.8, 3], (factor) => factor * fast),
      saturationRequestsPerSecond: 2 * (rates.at(-1) ?? 0),
    },
  };
}

const anyShapes = fc
  .array(
    fc.record({
      gpus: fc.constantFrom(1, 2, 3, 4),
      highest: fc.double({ min: 1, max: 40, noNaN: true }),
      fast: fc.double({ min: 0.5, max: 8, noNaN: true }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((list) => list.map(({ gpus, highest, fast }) => shape(gpus, highest, fast)));

/** The maximum rate of any multiset of shapes, by trying them all. */
function exhaustive(rates: readonly number[], sizes: readonly number[], gpus: number): number {
  let most = 0;
  for (const [index, size] of sizes.entries()) {
    const rate = rates[index]!;
    if (size <= gpus && rate > 0) most = Math.max(most, rate + exhaustive(rates, sizes, gpus - size));
  }
  return most;
}

describe("rateWithin", () => {
  it("is the highest rate whose latency is within the limit", () => {
    const { curve } = shape(1, 10, 2);
    expect(rateWithin(curve, 1.9)).toBe(0);
    expect(rateWithin(curve, 2)).toBeCloseTo(1, 9);
    expect(rateWithin(curve, 3)).toBeCloseTo(6.5, 9);
    expect(rateWithin(curve, 100)).toBe(10);
  });
});

describe("capacityWithin", () => {
  it("finds what trying every multiset of shapes finds", () => {
    fc.assert(
      fc.property(anyShapes, fc.double({ min: 0.5, max: 20, noNaN: true }), (shapes, limit) => {
        const capacity = capacityWithin(shapes, limit, 9);
        const rates = shapes.map(({ curve }) => rateWithin(curve, limit));
        const sizes = shapes.map(({ gpus }) => gpus);
        for (let gpus = 0; gpus <= 9; gpus += 1) expect(capacity[gpus]).toBeCloseTo(exhaustive(rates, sizes, gpus), 9);
      }),
      { numRuns: 60 },
    );
  });

  it("is attained by the replicas that shapesWithin names, within the GPUs", () => {
    fc.assert(
      fc.property(anyShapes, fc.double({ min: 0.5, max: 20, noNaN: true }), (shapes, limit) => {
        const counts = shapesWithin(shapes, limit, 9);
        const rate = counts.reduce((sum, { count, requestsPerSecond }) => sum + count * requestsPerSecond, 0);
        expect(rate).toBeCloseTo(capacityWithin(shapes, limit, 9)[9]!, 9);
        expect(counts.reduce((sum, one) => sum + one.count * one.shape.tp * one.shape.pp, 0)).toBeLessThanOrEqual(9);
      }),
    );
  });
});

describe("latencyByGpus", () => {
  const rate = fc.double({ min: 0.1, max: 120, noNaN: true });

  it("never rises with more GPUs and never falls with more load", () => {
    fc.assert(
      fc.property(anyShapes, rate, rate, (shapes, one, other) => {
        const table = capacityTable(shapes, 16);
        const [low, high] = [Math.min(one, other), Math.max(one, other)].map((requestsPerSecond) => {
          const seconds = new Float64Array(16);
          latencyByGpus(table, requestsPerSecond, seconds);
          return seconds;
        });
        for (let f = 0; f < 16; f += 1) {
          if (f > 0) expect(high![f]!).toBeLessThanOrEqual(high![f - 1]!);
          expect(high![f]!).toBeGreaterThanOrEqual(low![f]! - 1e-9);
        }
      }),
    );
  });

  it("agrees with the exact replicas to the width of a level", () => {
    fc.assert(
      fc.property(anyShapes, rate, fc.integer({ min: 1, max: 16 }), (shapes, requestsPerSecond, gpus) => {
        const table = capacityTable(shapes, 16);
        const seconds = new Float64Array(16);
        latencyByGpus(table, requestsPerSecond, seconds);
        const exact = replicasFor(table, requestsPerSecond, gpus);
        if (exact === null) expect(seconds[gpus - 1]).toBe(Number.POSITIVE_INFINITY);
        else expect(seconds[gpus - 1]! / exact.seconds).toBeCloseTo(1, 0);
      }),
    );
  });

  it("is infinite everywhere when no shape fits", () => {
    const seconds = new Float64Array(4);
    latencyByGpus(capacityTable([], 4), 1, seconds);
    expect([...seconds]).toEqual([Infinity, Infinity, Infinity, Infinity]);
  });
});
