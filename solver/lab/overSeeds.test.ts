import fc from "fast-check";
import { expect, test } from "vitest";
import type { LabCell } from "./labCell";
import { frontiers, overSeeds, paired, seedEstimate } from "./overSeeds";

const cell = (key: Pick<LabCell, "system" | "rate" | "seed">, meanSeconds: number, quality: number | null = 50): LabCell => ({
  ...key,
  ...{ programs: 100, requests: 200, unserved: 0, meanSeconds, latencyQuantiles: Array.from({ length: 101 }, () => meanSeconds) },
  ...{ meanSecondsPerToken: 0.01, meanQueueSeconds: 1, longestWaitSeconds: 2, queueByLength: [], quality, programsPerSecond: 1 },
  ...{ usdPerProgram: 0.01, preemptions: 0, promotions: 0, models: [], digest: "" },
});

test("three seeds give Student's interval: 2.92 standard errors around the mean", () => {
  const estimate = seedEstimate([1, 2, 3]);
  expect(estimate).toMatchObject({ value: 2, seeds: 3 });
  expect((estimate?.high ?? 0) - 2).toBeCloseTo(2.92 / Math.sqrt(3), 3);
  expect(2 - (estimate?.low ?? 0)).toBeCloseTo(2.92 / Math.sqrt(3), 3);
});

test("one seed leaves no interval, and a figure that one seed does not know is not known", () => {
  expect(seedEstimate([7])).toEqual({ value: 7, low: null, high: null, seeds: 1 });
  expect(seedEstimate([7, Number.NaN])).toBeNull();
  expect(seedEstimate([])).toBeNull();
  expect(overSeeds([cell({ system: 0, rate: 0, seed: 0 }, 1, null)])[0]?.figures.quality).toBeNull();
});

test("an interval of what cannot be below zero is cut there, that of a difference is not", () => {
  const cells = [0.1, 0.1, 2].map((seconds, seed) => cell({ system: 0, rate: 0, seed }, seconds));
  expect(overSeeds(cells)[0]?.figures.meanSeconds).toMatchObject({ low: 0, value: expect.closeTo(0.733, 2) });
  const others = [1, 1, 1].map((seconds, seed) => cell({ system: 1, rate: 0, seed }, seconds));
  expect(paired([...cells, ...others], 0, 1, "meanSeconds")[0]?.difference?.low).toBeLessThan(-1);
});

const values = fc.array(fc.double({ min: 0.1, max: 100, noNaN: true }), { minLength: 2, maxLength: 20 });

test("an interval holds its mean, moves with the values and widens with them", () => {
  fc.assert(
    fc.property(values, fc.double({ min: 0.5, max: 4, noNaN: true }), (own, factor) => {
      const [estimate, scaled] = [seedEstimate(own), seedEstimate(own.map((value) => factor * value + 3))];
      if (estimate?.low == null || estimate.high === null || scaled?.low == null || scaled.high === null) throw new Error("no interval");
      expect(estimate.low).toBeLessThanOrEqual(estimate.value);
      expect(estimate.high).toBeGreaterThanOrEqual(estimate.value);
      expect(scaled.value).toBeCloseTo(factor * estimate.value + 3, 6);
      expect(scaled.high - scaled.low).toBeCloseTo(factor * (estimate.high - estimate.low), 6);
    }),
  );
});

test("figures do not depend on the order in which cells came", () => {
  fc.assert(
    fc.property(values, fc.nat(), (own, turn) => {
      const cells = own.flatMap((value, seed) => [
        cell({ system: 0, rate: 0, seed }, value),
        cell({ system: 1, rate: 0, seed }, 2 * value),
      ]);
      const turned = [...cells.slice(turn % cells.length), ...cells.slice(0, turn % cells.length)];
      expect(overSeeds(turned)).toEqual(overSeeds(cells));
      expect(paired(turned, 1, 0, "meanSeconds")).toEqual(paired(cells, 1, 0, "meanSeconds"));
    }),
  );
});

test("what seeds have in common falls out of a paired ratio: twice as slow under every seed is twice, to the digit", () => {
  fc.assert(
    fc.property(values, (own) => {
      const cells = own.flatMap((value, seed) => [
        cell({ system: 0, rate: 0, seed }, value),
        cell({ system: 1, rate: 0, seed }, 2 * value),
      ]);
      const [pair] = paired(cells, 1, 0, "meanSeconds");
      expect(pair?.ratio?.value).toBeCloseTo(2, 9);
      expect((pair?.ratio?.high ?? 0) - (pair?.ratio?.low ?? 0)).toBeLessThan(1e-6);
    }),
  );
});

test("seeds that only one of two systems has are left out of a pair, and systems of one name make one frontier", () => {
  const cells = [0, 1, 2].map((seed) => cell({ system: 0, rate: 0, seed }, 10)).concat(cell({ system: 1, rate: 0, seed: 1 }, 5));
  const [pair] = paired(cells, 1, 0, "meanSeconds");
  expect(pair?.difference).toEqual({ value: -5, low: null, high: null, seeds: 1 });
  const made = frontiers([{ name: "slack" }, { name: "slack" }, { name: "to come" }], cells, 0);
  expect(made.map(({ name, points }) => [name, points.length])).toEqual([["slack", 2]]);
});
