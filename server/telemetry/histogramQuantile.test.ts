import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { histogramDelta, histogramQuantile } from "./histogramQuantile";

const INF = Number.POSITIVE_INFINITY;
const bounds = [0.1, 0.2, 0.4, INF];

describe("histogramQuantile", () => {
  it("interpolates inside the bucket that holds the rank", () => {
    expect(histogramQuantile(0.5, { bounds, cumulative: [0, 10, 10, 10] })).toEqual({ value: expect.closeTo(0.15, 12) });
    expect(histogramQuantile(0.75, { bounds, cumulative: [5, 5, 10, 10] })).toEqual({ value: expect.closeTo(0.3, 12) });
  });

  it("says of the first bucket its bound and no more, however many lie in it", () => {
    for (const q of [0.01, 0.5, 0.99])
      expect(histogramQuantile(q, { bounds, cumulative: [10, 10, 10, 10] })).toEqual({ value: 0.1, limit: "upper" });
  });

  it("says of the open bucket the highest finite bound and no less", () => {
    expect(histogramQuantile(0.95, { bounds, cumulative: [0, 0, 1, 10] })).toEqual({ value: 0.4, limit: "lower" });
    expect(histogramQuantile(0.95, { bounds: [INF], cumulative: [10] })).toBeNull();
  });

  it("is absent, not zero, when nothing was observed", () => {
    expect(histogramQuantile(0.95, { bounds, cumulative: [0, 0, 0, 0] })).toBeNull();
  });

  it("never falls as q rises, and stays inside the finite bounds", () => {
    const counts = fc.array(fc.nat(50), { minLength: 4, maxLength: 4 }).filter((parts) => parts.some((part) => part > 0));
    fc.assert(
      fc.property(counts, fc.double({ min: 0.01, max: 1, noNaN: true }), fc.double({ min: 0.01, max: 1, noNaN: true }), (parts, p, q) => {
        let sum = 0;
        const histogram = { bounds, cumulative: parts.map((part) => (sum += part)) };
        const [low, high] = [Math.min(p, q), Math.max(p, q)].map((at) => histogramQuantile(at, histogram)?.value ?? Number.NaN);
        expect(low).toBeLessThanOrEqual((high ?? Number.NaN) + 1e-12);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(0.4);
      }),
    );
  });
});

describe("histogramDelta", () => {
  it("is what was observed in between", () => {
    const delta = histogramDelta({ bounds, cumulative: [1, 2, 3, 4] }, { bounds, cumulative: [1, 4, 6, 9] });
    expect(delta.cumulative).toEqual([0, 2, 3, 5]);
  });

  it("takes a restarted engine's histogram whole", () => {
    const after = { bounds, cumulative: [0, 1, 1, 1] };
    expect(histogramDelta({ bounds, cumulative: [5, 5, 5, 5] }, after)).toEqual(after);
  });

  it("takes the newer one whole when its buckets are others", () => {
    const after = { bounds: [1, INF], cumulative: [7, 9] };
    expect(histogramDelta({ bounds, cumulative: [5, 5, 5, 5] }, after)).toEqual(after);
  });
});
