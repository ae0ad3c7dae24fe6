import { expect, test } from "vitest";
import { mean } from "@/solver/numeric/quantile";
import { type ArrivalLaw, arrivals } from "./arrivals";

const gaps = (seconds: Float64Array): Float64Array => seconds.subarray(1).map((value, index) => value - (seconds[index] ?? 0));

const variation = (values: Float64Array): number => {
  const average = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - average) ** 2))) / average;
};

const drawn = (law: ArrivalLaw, seed = 1) => arrivals({ law, requests: 50_000, requestsPerSecond: 20, seed });

test("Poisson and Gamma arrivals have the asked rate, and gaps of the asked coefficient of variation", () => {
  expect(variation(gaps(drawn({ kind: "poisson" })))).toBeCloseTo(1, 1);
  for (const burstiness of [0.5, 1, 2, 3]) {
    const own = gaps(drawn({ kind: "gamma", burstiness }));
    expect(Math.abs(mean(own) * 20 - 1)).toBeLessThan(0.03);
    expect(Math.abs(variation(own) / burstiness - 1)).toBeLessThan(0.05);
  }
});

test("a trace keeps its pattern at the asked rate, and begins anew where it ends", () => {
  const trace = Float64Array.of(0, 1, 1.5, 9);
  const replayed = arrivals({ law: { kind: "trace", arrivalSeconds: trace }, requests: 8, requestsPerSecond: 2, seed: 1 });
  expect(replayed.at(-1)).toBeCloseTo(7 / 2, 12);
  const [first, second] = [replayed.subarray(0, 4), replayed.subarray(4)];
  const scale = replayed[1]!;
  for (const [index, seconds] of trace.entries()) {
    expect(first[index]! / scale).toBeCloseTo(seconds, 9);
    expect((second[index]! - second[0]!) / scale).toBeCloseTo(seconds, 9);
  }
});

test("the same seed draws the same arrivals, another seed others", () => {
  expect(drawn({ kind: "gamma", burstiness: 2 }, 5)).toEqual(drawn({ kind: "gamma", burstiness: 2 }, 5));
  expect(drawn({ kind: "gamma", burstiness: 2 }, 5)).not.toEqual(drawn({ kind: "gamma", burstiness: 2 }, 6));
});

test("rates and laws that no arrivals can have are refused", () => {
  const of = (law: ArrivalLaw, requestsPerSecond = 1) => arrivals({ law, requests: 3, requestsPerSecond, seed: 1 });
  expect(() => of({ kind: "poisson" }, 0)).toThrow("rate above 0 requests/s, found 0");
  expect(() => of({ kind: "gamma", burstiness: 0 })).toThrow("burstiness of arrivals must be above 0, found 0");
  expect(() => of({ kind: "trace", arrivalSeconds: new Float64Array(0) })).toThrow("A trace without arrivals");
});
