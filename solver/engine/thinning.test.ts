import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../numeric/random";
import { atRate, thinnedArrivals } from "./thinning";

const random = seededRandom(2);
let clock = 0;
const recorded = Float64Array.from({ length: 3000 }, () => {
  clock += random.exponential(5);
  return clock;
});
const rate = (seconds: Float64Array): number => (seconds.length - 1) / seconds[seconds.length - 1]!;

describe("thinnedArrivals", () => {
  it("keeps every n-th arrival when all requests reach the stage", () => {
    const thinned = thinnedArrivals(recorded, { share: 1, oneIn: 4, count: 10, seed: 1 });
    for (let index = 0; index < 10; index += 1) expect(thinned[index]).toBeCloseTo(recorded[4 * index]! - recorded[0]!, 9);
  });

  it("ascends and has the thinned rate, however far it goes round the trace", () => {
    fc.assert(
      fc.property(fc.double({ min: 0.02, max: 1, noNaN: true }), fc.double({ min: 1, max: 40, noNaN: true }), (share, oneIn) => {
        const thinned = thinnedArrivals(recorded, { share, oneIn, count: 3000, seed: 7 });
        for (let index = 1; index < thinned.length; index += 1) expect(thinned[index]!).toBeGreaterThanOrEqual(thinned[index - 1]!);
        expect(rate(thinned) / ((rate(recorded) * share) / oneIn)).toBeCloseTo(1, 0.7);
      }),
      { numRuns: 40 },
    );
  });
});

describe("atRate", () => {
  it("changes the clock only", () => {
    const scaled = atRate(recorded, 40);
    expect(rate(scaled)).toBeCloseTo(40, 9);
    expect(scaled[100]! / recorded[100]!).toBeCloseTo(scaled[2000]! / recorded[2000]!, 9);
  });

  it("spreads arrivals of one instant evenly", () => {
    expect([...atRate(new Float64Array(3), 2)]).toEqual([0, 0.5, 1]);
  });
});
