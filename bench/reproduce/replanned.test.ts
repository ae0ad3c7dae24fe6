import { expect, test } from "vitest";
import { cascadiaCases } from "../cascadia/cases";
import type { RaceRow } from "../cascadia/race";
import { parallelRate } from "./parallelRates";
import { pairsOf } from "./replanned";

const at = (requestsPerSecond: number) => ({
  ...{ requestsPerSecond, quality: 80, costUsdPerRequest: 1 / requestsPerSecond, gpus: 8, gateGpus: 0 },
  ...{ cascade: "", gate: "", startBelow: null, p95Seconds: 1 },
});
const row = (system: string, seed: number, rate: number | null, sloScales: readonly (number | null)[]): RaceRow => ({
  ...{ ladder: "Gemma", case: "easy", floor: 70, seed, system, kept: null },
  highest: rate === null ? null : at(rate),
  half: rate === null ? null : at(rate),
  scales: sloScales.map((sloScale) => ({ ...at(10), sloScale })),
});
const rows = [
  ...[row("Weir", 1, 40, [1, 2]), row("Weir", 2, 44, [1, 2])],
  ...[row("CascadeServe", 1, 20, [2, null]), row("CascadeServe", 2, 22, [3, 5])],
  ...[row("AutoMix", 1, 10, [9, 9]), row("AutoMix", 2, null, [9, 9])],
];

test("Weir is better where its rate is higher, and where the other's SLO scale or cost is", () => {
  expect(pairsOf(rows, "CascadeServe", "highest rate")).toEqual([{ own: [40, 44], reference: [20, 22] }]);
  expect(pairsOf(rows, "CascadeServe", "cost")).toEqual([{ own: [1 / 20, 1 / 22], reference: [1 / 40, 1 / 44] }]);
  expect(pairsOf(rows, "CascadeServe", "SLO scale")).toEqual([{ own: [2, 3], reference: [1, 1] }]);
});

test("a case, or a rate of it, in which a system has no figure under some seed is left out", () => {
  expect(pairsOf(rows, "AutoMix", "highest rate")).toEqual([]);
  expect(pairsOf(rows, "AutoMix", "SLO scale")).toHaveLength(2);
  expect(pairsOf(rows, "no such system", "SLO scale")).toEqual([]);
});

test("the first ladder is Llama's, which figure 7 is of", () => {
  expect(cascadiaCases.ladders[0]?.family).toMatch(/^Llama/);
});

test("twice the replicas have twice the rate", () => {
  const [one, two] = [parallelRate([1, 4, 1]), parallelRate([2, 4, 1])];
  expect(one).toBeGreaterThan(0);
  expect(two).toBeCloseTo(2 * (one ?? 0), 9);
});
