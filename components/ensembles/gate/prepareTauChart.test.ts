import fc from "fast-check";
import { expect, it } from "vitest";
import { around, testReport } from "../testing/testGate";
import { gateStops } from "./prepareGate";
import { prepareTauChart } from "./prepareTauChart";

it("marks the chosen and the recommended tau, and draws them along the share that skips", () => {
  const stops = gateStops(testReport({ chosenTau: 1 }), 3);
  const picture = prepareTauChart(stops, { at: 1, recommendedTau: 1 });
  expect(picture?.points.map(({ stop, role, name }) => [stop, role, name])).toEqual([
    [3, "other", "aggregate all"],
    [2, "recommended", "1, recommended"],
    [1, "chosen", "2/3"],
    [0, "other", "1/3"],
  ]);
  expect(picture?.always?.text).toContain("86.5");
});

it("says of a chosen tau that it is the recommended one", () => {
  const picture = prepareTauChart(gateStops(testReport(), 3), { at: 2, recommendedTau: 1 });
  expect(picture?.points.find(({ role }) => role === "chosen")?.name).toBe("1, recommended");
});

it("keeps every point and its band inside the plot", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ skipped: fc.double({ min: 0, max: 1, noNaN: true }), accuracy: fc.double({ min: 0, max: 1, noNaN: true }) }), {
        minLength: 1,
        maxLength: 30,
      }),
      (places) => {
        const points = places.map(({ skipped, accuracy }, at) => ({
          tau: (at + 1) / places.length,
          skipped: around(skipped, 0),
          accuracy: { value: accuracy, low: Math.max(0, accuracy - 0.1), high: Math.min(1, accuracy + 0.1) },
          difference: null,
          aggregatorTokens: 0.5,
        }));
        const stops = gateStops(testReport({ points, alwaysAggregated: null, chosenTau: null }), 3);
        const picture = prepareTauChart(stops, { at: 0, recommendedTau: null });
        for (const { x, y, low, high } of picture?.points ?? []) {
          for (const place of [x, y, low, high]) expect(place >= 0 && place <= 1).toBe(true);
          expect(low).toBeLessThanOrEqual(y);
          expect(y).toBeLessThanOrEqual(high);
        }
        expect(picture?.points).toHaveLength(places.length);
        expect(picture?.line).not.toContain("NaN");
      },
    ),
  );
});

it("names few points all, and of many the chosen alone", () => {
  const points = Array.from({ length: 12 }, (_, at) => ({
    tau: (at + 1) / 12,
    skipped: around(1 - at / 12, 0),
    accuracy: around(0.5 + at / 40),
    difference: null,
    aggregatorTokens: 0.5,
  }));
  const stops = gateStops(testReport({ points, chosenTau: null }), 3);
  const names = prepareTauChart(stops, { at: 4, recommendedTau: null })?.points.flatMap(({ name }) => name ?? []);
  expect(names).toEqual([stops[4]?.name]);
});

it("leaves out names that would lie upon the chosen one's", () => {
  const points = [0.99, 0.98, 0.5].map((skipped, at) => ({
    tau: (at + 1) / 3,
    skipped: around(skipped, 0),
    accuracy: around(0.9),
    difference: null,
    aggregatorTokens: 0.5,
  }));
  const stops = gateStops(testReport({ points, alwaysAggregated: null, chosenTau: 1 / 3 }), 3);
  const names = prepareTauChart(stops, { at: 1, recommendedTau: 1 / 3 })?.points.flatMap(({ name }) => name ?? []);
  expect(names).toEqual(["1", "2/3"]);
});

it("draws nothing of nothing", () => {
  expect(prepareTauChart([], { at: 0, recommendedTau: null })).toBeNull();
});
