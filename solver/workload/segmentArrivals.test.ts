import * as fc from "fast-check";
import { expect, it } from "vitest";
import { overlap, ratesByHour, type Stretch, segmentArrivals } from "./segmentArrivals";

const times = fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 200 }).map((list) => Float64Array.from(list).sort());
/** In order and disjoint. */
const stretches = fc
  .uniqueArray(fc.integer({ min: 0, max: 1000 }), { maxLength: 12 })
  .map((edges) => edges.sort((a, b) => a - b))
  .map((edges): readonly Stretch[] =>
    Array.from({ length: edges.length >> 1 }, (_, at) => ({ from: edges[2 * at] ?? 0, to: edges[2 * at + 1] ?? 0 })),
  );

const within = (one: Stretch, at: number): boolean => at >= one.from && at < one.to;

it("keeps every arrival of the stretches and no other, in order, and no gap between stretches", () => {
  fc.assert(
    fc.property(times, stretches, (arrivals, parts) => {
      const { arrivalSeconds, seconds } = segmentArrivals(arrivals, parts);
      const kept = Array.from(arrivals).filter((at) => parts.some((one) => within(one, at)));
      expect(arrivalSeconds.length).toBe(kept.length);
      expect(seconds).toBe(parts.reduce((sum, { from, to }) => sum + to - from, 0));
      const before = (at: number): number => parts.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(at, to) - from), 0);
      expect(Array.from(arrivalSeconds)).toEqual(kept.map((at) => before(at) - before(kept[0] ?? 0)));
    }),
  );
});

it("lays stretches in the order they are given", () => {
  const arrivals = Float64Array.from([1, 2, 21, 23]);
  const night = [
    { from: 20, to: 24 },
    { from: 0, to: 8 },
  ];
  expect(Array.from(segmentArrivals(arrivals, night).arrivalSeconds)).toEqual([0, 2, 4, 5]);
});

it("gives the rate of each hour over all its stretches, and none where nothing is known", () => {
  const arrivals = Float64Array.from([0, 1, 2, 10]);
  const rates = ratesByHour(arrivals, [
    [{ from: 0, to: 2 }],
    [
      { from: 2, to: 3 },
      { from: 10, to: 12 },
    ],
    [],
    [{ from: 4, to: 5 }],
  ]);
  expect(rates).toEqual([1, 2 / 3, null, 0]);
});

it("keeps of stretches what lies in others", () => {
  fc.assert(
    fc.property(stretches, stretches, fc.integer({ min: 0, max: 999 }), (some, others, at) => {
      const both = overlap(some, others).filter((one) => within(one, at)).length;
      expect(both).toBe(some.some((one) => within(one, at)) && others.some((one) => within(one, at)) ? 1 : 0);
    }),
  );
});
