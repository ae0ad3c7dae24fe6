import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quantile } from "@/solver/numeric/quantile";
import { seededRandom } from "@/solver/numeric/random";
import { measuredRequests, predictionSpan, statistic } from "./predictionBand";

const p95 = (values: Float64Array): number => quantile(values, 0.95);

describe("the band of a measurement", () => {
  it("counts five minutes at the plan's rate, and no more requests than Live does", () => {
    expect([0.001, 1, 10, 1000].map((rate) => measuredRequests(rate))).toEqual([1, 300, 3000, 5000]);
    expect(measuredRequests(10, 40)).toBe(400);
  });

  it("holds nine of ten measured percentiles of independent latencies, whatever the measurement's length", () => {
    const random = seededRandom(7);
    const draw = (count: number): Float64Array => Float64Array.from({ length: count }, () => random.lognormal(-1, 0.5));
    for (const measured of [150, 1000]) {
      let within = 0;
      for (let trial = 0; trial < 80; trial += 1) {
        const { low, high } = predictionSpan(statistic(draw(3000), p95, measured), null, false);
        const seen = p95(draw(measured));
        if (low <= seen && seen <= high) within += 1;
      }
      expect(within / 80, `${measured} requests`).toBeGreaterThan(0.8);
      expect(within / 80, `${measured} requests`).toBeLessThan(1);
    }
  });

  it("is no narrower for a shorter measurement", () => {
    const latencies = fc.array(fc.double({ min: 0.01, max: 9, noNaN: true }), { minLength: 20, maxLength: 200 });
    fc.assert(
      fc.property(latencies, fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 5000 }), (values, one, other) => {
        const spread = (measured: number) => statistic(Float64Array.from(values), p95, measured).spreadSeconds ?? 0;
        expect(spread(Math.min(one, other))).toBeGreaterThanOrEqual(spread(Math.max(one, other)));
      }),
    );
  });

  it("reaches to what slower and faster engines have, where queues multiply the profile's error", () => {
    const figure = { seconds: 1, spreadSeconds: 0 };
    const errors = { rows: 20, meanAbsolute: 0.05, p90Absolute: 0.1, bias: 0 };
    const alone = predictionSpan(figure, errors, false);
    const paced = predictionSpan(figure, errors, false, { slower: 1.6, faster: 0.95 });
    expect(paced.high).toBeCloseTo(1.6, 9);
    expect(paced.low).toBeCloseTo(alone.low, 9);
  });
});
