import { expect, it } from "vitest";
import { cascadiaCases } from "./cases";
import type { RaceRow } from "./race";
import source from "./source.json" with { type: "json" };
import { ratioTable, targetResults } from "./tables";

const row = (system: string, seed: number, rate: number | null, name = "one"): RaceRow => ({
  ...{ ladder: "ladder", case: name, floor: 80, seed, system, kept: rate, sloScales: [2, null] },
  highest:
    rate === null
      ? null
      : { requestsPerSecond: rate, cascade: "", gate: "", gpus: 8, quality: 81, p95Seconds: 1, costUsdPerRequest: 1 / rate },
});

const rows = [
  ...[1, 2, 3].flatMap((seed) => [row("Weir", seed, 20), row("CascadeServe", seed, 10), row("AutoMix", seed, seed === 2 ? null : 10)]),
  ...[1, 2, 3].flatMap((seed) => [row("Weir", seed, 10, "two"), row("CascadeServe", seed, 20, "two"), row("AutoMix", seed, 5, "two")]),
];

it("compares in the cases where both systems have a rate under every seed, geometrically", () => {
  const [, , weir, cascadeServe, autoMix] = ratioTable(rows).split("\n");
  expect(weir).toContain("| Weir | - | 0 of 2 | - | - |");
  expect(cascadeServe).toContain("| CascadeServe | 1.00 (1.00 to 1.00) | 2 of 2 | 0.50 (two)");
  expect(autoMix).toContain("| AutoMix | 2.00 (2.00 to 2.00) | 1 of 2");
});

it("takes the mean or the least case for a target, as it asks", () => {
  const found = targetResults(rows);
  expect(found.find(({ target }) => target.against === "CascadeServe")?.ratio).toBeCloseTo(1, 9);
  expect(found.find(({ target }) => target.against === "AutoMix")?.ratio).toBeCloseTo(2, 9);
  expect(found.find(({ target }) => target.against === "trained router")?.ratio).toBeNull();
});

it("every case can be told apart, and every target is of a system that is raced", () => {
  for (const { cases } of cascadiaCases.ladders) expect(new Set(cases.map((one) => JSON.stringify(one))).size).toBe(cases.length);
  expect(cascadiaCases.targets.every(({ against, atLeast }) => against !== "Weir" && atLeast >= 1)).toBe(true);
});

it("every figure of the source says what it is, its unit and where it stands", () => {
  for (const { figure, what, section } of source) expect([figure, what, section].every((text) => text.length > 0)).toBe(true);
  const figures = new Set(source.map(({ figure }) => figure));
  for (const figure of ["5", "6", "7", "8", "9", "10", "11", "T1", "T2", "T3", "T4", "T5", "T6", "T7"]) expect(figures).toContain(figure);
});
