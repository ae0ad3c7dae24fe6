import { expect, test } from "vitest";
import { mean } from "@/solver/numeric/quantile";
import { gammaArrivals } from "./gammaArrivals";

const gaps = (arrivals: Float64Array): Float64Array => arrivals.subarray(1).map((seconds, at) => seconds - (arrivals[at] ?? 0));

test.each([0.23, 0.862, 1, 3])("at shape %f the gaps have the asked mean and a squared variation of 1 / shape", (shape) => {
  const drawn = gaps(gammaArrivals({ requests: 40_000, requestsPerSecond: 20, shape, seed: 4 }));
  const average = mean(drawn);
  const variation = mean(drawn.map((gap) => (gap - average) ** 2)) / average ** 2;
  expect(average * 20).toBeCloseTo(1, 1);
  expect(variation * shape).toBeCloseTo(1, 1);
  expect(drawn.every((gap) => gap >= 0)).toBe(true);
});

test("arrivals start at 0 and follow from the seed", () => {
  const options = { requests: 100, requestsPerSecond: 2, shape: 0.862, seed: 4 };
  expect(gammaArrivals(options)[0]).toBe(0);
  expect(gammaArrivals(options)).toEqual(gammaArrivals(options));
  expect(gammaArrivals(options)).not.toEqual(gammaArrivals({ ...options, seed: 5 }));
});
