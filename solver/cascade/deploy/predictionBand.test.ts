import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorBand } from "@/solver/calibration/predictServing";
import { mean, quantile } from "@/solver/numeric/quantile";
import { predictionBand, predictionSpan, statistic } from "./predictionBand";

const seconds = fc.double({ min: 0.01, max: 500, noNaN: true });
const error = fc.double({ min: 0, max: 1.5, noNaN: true });
const errors = (p90Absolute: number) => ({ rows: 60, meanAbsolute: p90Absolute / 2, p90Absolute, bias: 0 });
const latencies = fc.array(seconds, { minLength: 10, maxLength: 200 }).map((values) => Float64Array.from(values));
const p95 = (values: Float64Array): number => quantile(values, 0.95);
/** The ends are computed from sums of squares: exact up to rounding. */
const SLACK = 1 - 1e-9;

describe("the combined band", () => {
  it("contains its figure, and is nowhere narrower than the traffic's spread or the profile's error alone", () => {
    fc.assert(
      fc.property(latencies, error, (values, p90Absolute) => {
        const figure = statistic(values, p95);
        const { low, high } = predictionSpan(figure, errors(p90Absolute), false);
        const spread = figure.spreadSeconds ?? Number.NaN;
        const alone = errorBand(figure.seconds, errors(p90Absolute), false);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(figure.seconds - low).toBeGreaterThanOrEqual(Math.min(figure.seconds, spread) * SLACK);
        expect(figure.seconds - low).toBeGreaterThanOrEqual((figure.seconds - alone.low) * SLACK);
        expect(high - figure.seconds).toBeGreaterThanOrEqual(spread * SLACK - 1e-9);
        expect(high - figure.seconds).toBeGreaterThanOrEqual((alone.high - figure.seconds) * SLACK - 1e-9);
      }),
    );
  });

  it("is never wider than both deviations added up", () => {
    fc.assert(
      fc.property(latencies, fc.double({ min: 0, max: 0.9, noNaN: true }), (values, p90Absolute) => {
        const figure = statistic(values, mean);
        const { low, high } = predictionSpan(figure, errors(p90Absolute), false);
        const alone = errorBand(figure.seconds, errors(p90Absolute), false);
        expect(low).toBeGreaterThanOrEqual(alone.low - (figure.spreadSeconds ?? 0) - 1e-9);
        expect(high).toBeLessThanOrEqual((alone.high + (figure.spreadSeconds ?? 0)) * (1 + 1e-9));
      }),
    );
  });

  it("widens with the profile's error on both sides", () => {
    fc.assert(
      fc.property(latencies, error, error, (values, one, other) => {
        const figure = statistic(values, p95);
        const narrow = predictionSpan(figure, errors(Math.min(one, other)), false);
        const wide = predictionSpan(figure, errors(Math.max(one, other)), false);
        expect(wide.low).toBeLessThanOrEqual(narrow.low);
        expect(wide.high).toBeGreaterThanOrEqual(narrow.high);
      }),
    );
  });

  it("is the traffic's spread alone where no error is known, and says so", () => {
    const figure = { seconds: 10, spreadSeconds: 2 };
    expect(predictionSpan(figure, null, false)).toEqual({ low: 8, high: 12 });
    expect(predictionSpan(figure, { ...errors(0.5), rows: 0 }, false)).toEqual({ low: 8, high: 12 });
    const { basis } = predictionBand(figure, { name: "Ours", errors: null }, { extrapolated: false, nearSaturation: false });
    expect(basis).toContain('too narrow: no error of the engine profile "Ours" is known');
  });

  it("adds independent deviations in squares", () => {
    const { high } = predictionSpan({ seconds: 9, spreadSeconds: 4 }, errors(0.25), false);
    expect(high - 9).toBeCloseTo(5, 9);
  });
});

describe("the basis of a band", () => {
  const figure = { seconds: 10, spreadSeconds: 1 };
  const basis = (doubts: { extrapolated: boolean; nearSaturation: boolean }) => {
    const known = { ttft: errors(0.3), tpot: errors(0.1), endToEnd: errors(0.08) };
    return predictionBand(figure, { name: "vLLM", errors: known }, doubts).basis;
  };

  it("says how many measured runs it rests on, and that none validates a percentile", () => {
    const plain = basis({ extrapolated: false, nearSaturation: false });
    expect(plain).toContain("8 % end to end on nine of ten of 60 measured runs");
    expect(plain).toContain("no percentile is validated");
    expect(plain).not.toContain("may be too narrow");
  });

  it("says that it may be too narrow beyond what was fitted, and near saturation", () => {
    expect(basis({ extrapolated: true, nearSaturation: false })).toContain("extrapolated, so the profile's error is doubled");
    expect(basis({ extrapolated: false, nearSaturation: true })).toContain("near saturation multiplies the error");
  });
});

it("tells no spread of fewer requests than blocks", () => {
  expect(statistic(Float64Array.of(1, 2, 3), mean)).toEqual({ seconds: 2, spreadSeconds: null });
  expect(statistic(new Float64Array(50).fill(3), mean)).toEqual({ seconds: 3, spreadSeconds: 0 });
});

it("extrapolating doubles the profile's error, and with it the band where the traffic adds nothing", () => {
  const figure = { seconds: 10, spreadSeconds: null };
  const [inside, beyond] = [false, true].map((extrapolated) => predictionSpan(figure, errors(0.1), extrapolated));
  expect(inside).toEqual({ low: expect.closeTo(10 / 1.1, 9), high: expect.closeTo(10 / 0.9, 9) });
  expect(beyond).toEqual({ low: expect.closeTo(10 / 1.2, 9), high: expect.closeTo(10 / 0.8, 9) });
});
