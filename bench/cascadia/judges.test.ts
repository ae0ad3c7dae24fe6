import { expect, it } from "vitest";
import type { AtRate } from "@/server/planning/rates/replanned";
import { cascadiaCases } from "./cases";
import { isOfJudgedCase, type JudgeRow, judgeTable, USUAL } from "./judges";
import { caseName } from "./scene";

const at = (requestsPerSecond: number, of: Partial<AtRate> = {}): AtRate => ({
  ...{ requestsPerSecond, cascade: "small <44→ large", gate: "judge", startBelow: null, gpus: 32, gateGpus: 4 },
  ...{ quality: 71, p95Seconds: 2, costUsdPerRequest: 1 },
  ...of,
});

const [ladder] = cascadiaCases.ladders;
const [one] = ladder?.cases ?? [];
if (ladder === undefined || one === undefined) throw new Error("no case");
const name = caseName(ladder, one);

const row = (gate: string, seed: number, of: Partial<JudgeRow>): JudgeRow => ({
  ...{ case: name, seed, gate, floor: 70, highest: at(400), half: at(200), toLarger: 0.4 },
  ...of,
});

it("compares judges with the usual one, and says in how many plans they are asked", () => {
  const rows = [1, 2, 3].flatMap((seed) => [
    row(USUAL, seed, {}),
    row("judge of AUC 0.7", seed, {
      highest: at(200, { quality: 69 }),
      half: seed === 1 ? at(200, { gateGpus: 0, gate: "none", cascade: "large", p95Seconds: 4 }) : at(200, { p95Seconds: 4 }),
      toLarger: seed === 1 ? 1 : 0.55,
    }),
  ]);
  const [, , usual, weaker] = judgeTable(rows).trim().split("\n");
  expect(usual).toContain("| 1.00 (1.00 to 1.00) | 1.00 (1.00 to 1.00) | 40 % | 3 of 3 | 71.0 | 3 of 3 | small <44→ large |");
  expect(weaker).toContain("| 0.50 (0.50 to 0.50) | 2.00 (2.00 to 2.00) | 70 % | 2 of 3 | 69.0 | 0 of 3 | large |");
});

it("tells rows of today's case from those of another", () => {
  expect(isOfJudgedCase({ case: name })).toBe(true);
  expect(isOfJudgedCase({ case: "Gemma-2 2B, 9B, 27B, 60 % hard, floor 0.75" })).toBe(false);
});
