import * as fc from "fast-check";
import { expect, it } from "vitest";
import { expectedArrivals, hourlyArrivals, type RateStep } from "./hourlyArrivals";

const step: fc.Arbitrary<RateStep> = fc.record({
  seconds: fc.double({ min: 0.5, max: 600, noNaN: true }),
  requestsPerSecond: fc.option(fc.oneof(fc.constant(0), fc.double({ min: 0.001, max: 20, noNaN: true })), { nil: null }),
});
const runs = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 30 }),
  shape: fc.double({ min: 0.2, max: 5, noNaN: true }),
  seed: fc.integer(),
});

/** The end of each step. */
function endsOf(steps: readonly RateStep[]): readonly number[] {
  let end = 0;
  return steps.map(({ seconds }) => {
    end += seconds;
    return end;
  });
}

it("gives ascending arrivals, none of them where nothing is carried or known", () => {
  fc.assert(
    fc.property(runs, ({ steps, shape, seed }) => {
      const arrivals = hourlyArrivals({ steps, shape, seed });
      const ends = endsOf(steps);
      let at = 0;
      let last = 0;
      const strays = arrivals.filter((seconds) => {
        while (at < steps.length && seconds > (ends[at] ?? 0)) at += 1;
        const isStray = seconds < last || !((steps[at]?.requestsPerSecond ?? 0) > 0);
        last = seconds;
        return isStray;
      });
      expect(strays).toEqual(new Float64Array());
    }),
  );
});

it("carries as many arrivals as the rates integrate to, within the spread of a renewal process", () => {
  fc.assert(
    fc.property(runs, ({ steps, shape, seed }) => {
      const expected = expectedArrivals(steps);
      const { length } = hourlyArrivals({ steps, shape, seed });
      // Counts of a renewal process have 1/shape of a Poisson process's variance, plus a gap or two where there are few.
      expect(Math.abs(length - expected)).toBeLessThanOrEqual(6 * Math.sqrt(expected / shape) + 12 / shape + 6);
    }),
  );
});

it("meets the integral in the mean, from the first second on", () => {
  const steps = [
    { seconds: 2, requestsPerSecond: 1 },
    { seconds: 5, requestsPerSecond: null },
    { seconds: 1, requestsPerSecond: 4 },
  ];
  const counts = Array.from({ length: 4000 }, (_, seed) => hourlyArrivals({ steps, shape: 0.5, seed }));
  const within = (from: number, to: number): number =>
    counts.reduce((sum, arrivals) => sum + arrivals.filter((at) => at >= from && at < to).length, 0) / counts.length;
  // Standard errors: 0.04 and 0.06.
  expect(Math.abs(within(0, 2) - 2)).toBeLessThan(0.15);
  expect(within(2, 7)).toBe(0);
  expect(Math.abs(within(7, 8) - 4)).toBeLessThan(0.2);
});

it("spreads counts as the shape says, in busy hours and in quiet ones alike", () => {
  const steps = [
    { seconds: 20_000, requestsPerSecond: 1 },
    { seconds: 20_000, requestsPerSecond: 10 },
  ];
  const arrivals = hourlyArrivals({ steps, shape: 0.5, seed: 3 });
  const dispersion = (from: number, width: number, windows: number): number => {
    const counts = new Array<number>(windows).fill(0);
    for (const at of arrivals) {
      const window = Math.floor((at - from) / width);
      if (window >= 0 && window < windows) counts[window] = (counts[window] ?? 0) + 1;
    }
    const mean = counts.reduce((sum, count) => sum + count, 0) / windows;
    return counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / windows / mean;
  };
  // Over windows of a hundred arrivals it is nearly that of long ones, 1/shape.
  for (const value of [dispersion(0, 100, 200), dispersion(20_000, 10, 2000)]) {
    expect(value).toBeGreaterThan(1.5);
    expect(value).toBeLessThan(2.5);
  }
});

it("is the same for the same seed and another for another", () => {
  const order = { steps: [{ seconds: 100, requestsPerSecond: 5 }], shape: 1, seed: 1 };
  expect(hourlyArrivals(order)).toEqual(hourlyArrivals(order));
  expect(hourlyArrivals({ ...order, seed: 2 })).not.toEqual(hourlyArrivals(order));
});
