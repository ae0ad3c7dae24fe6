import { mean } from "@/solver/numeric/quantile";
import { pairsIn, ratioOf, type SeedPair } from "../lib/bySeed";
import { ratio, table } from "../lib/tables";
import type { RaceRow } from "./raceRun";

/** Latencies per token that the source compares. */
export const LATENCIES = [
  ["mean", "meanSecondsPerToken"],
  ["P90", "p90SecondsPerToken"],
  ["P95", "p95SecondsPerToken"],
  ["P99", "p99SecondsPerToken"],
] as const;

export type LatencyFigure = (typeof LATENCIES)[number][1];

const isSameCase = (a: RaceRow, b: RaceRow): boolean =>
  a.setting === b.setting && a.application === b.application && a.queueing === b.queueing;

/** A figure of one system compared with another's, over every case with both. */
export const pairsOf = (
  rows: readonly RaceRow[],
  names: readonly [own: string, reference: string],
  figure: LatencyFigure,
): readonly SeedPair[] => pairsIn(rows, names, { figure: (row) => row[figure], isSameCase });

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** The share of each seed, in whole per cent. */
const percents = (shares: readonly number[]): string => `${shares.map((share) => Math.round(100 * share)).join(", ")} %`;

const caseText = ({ setting, application, queueing }: RaceRow): readonly string[] => [
  `${setting}, ${application}`,
  `${Math.round(100 * queueing)} %`,
];

const VARIANTS = ["Kairos, no priority", "Kairos, no packing", "Kairos, oracle order"];

/** All tables of a race, each with a line that describes it. */
export const raceTables = (rows: readonly RaceRow[]): readonly string[] => [
  "Kairos' latency a token over Parrot's, of programs:",
  againstTable(rows, "Kairos", "Parrot"),
  "Kairos' over Ayo's:",
  againstTable(rows, "Kairos", "Ayo"),
  "Mean latency a token of Kairos' variants over Kairos', and last of Kairos without packing, its order alone, over Ayo's:",
  ablationTable(rows, VARIANTS),
  "Programs a second and in all, the rate over that at which engines saturate, the share of queueing that Parrot reaches there under each seed, and shares of requests that were preempted once or more:",
  casesTable(rows, ["Parrot", "Ayo", "Kairos", ...VARIANTS.slice(0, 2)]),
];

/** Ratios of a system's latencies per token to another's, one row per case. */
function againstTable(rows: readonly RaceRow[], own: string, reference: string): string {
  const lines = rows
    .filter(({ system }) => system === own)
    .map((row) => {
      const here = rows.filter((one) => isSameCase(one, row));
      return [...caseText(row), ...LATENCIES.map(([, figure]) => ratio(ratioOf(pairsOf(here, [own, reference], figure))))];
    });
  return table(["engines, applications", "queueing", ...LATENCIES.map(([name]) => name)], lines);
}

/** Mean latency per token of Kairos' variants relative to its own, and of its order alone relative to Ayo's, one row per case. */
function ablationTable(rows: readonly RaceRow[], variants: readonly string[]): string {
  const lines = rows
    .filter(({ system }) => system === "Kairos")
    .map((row) => {
      const here = rows.filter((one) => isSameCase(one, row));
      const over = (own: string, reference: string) => ratio(ratioOf(pairsOf(here, [own, reference], "meanSecondsPerToken")));
      return [...caseText(row), ...variants.map((variant) => over(variant, "Kairos")), over("Kairos, no packing", "Ayo")];
    });
  return table(["engines, applications", "queueing", ...variants, "no packing over Ayo"], lines);
}

/** Description of each case: its rate, absolute and relative to saturation, Parrot's result there, and each system's preempted requests. */
function casesTable(rows: readonly RaceRow[], systems: readonly string[]): string {
  const lines = rows
    .filter(({ system }) => system === "Parrot")
    .map((row) => {
      const preempted = systems.map((system) => {
        const other = rows.find((one) => one.system === system && isSameCase(one, row));
        return other === undefined ? "-" : percent(mean(other.preemptedShare));
      });
      const latency = `${Math.round(1000 * mean(row.meanSecondsPerToken))} ms`;
      const rate = `${row.programsPerSecond.toPrecision(3)}/s, ${row.programs}`;
      const ofSaturation = (row.programsPerSecond / row.saturationPerSecond).toFixed(2);
      return [...caseText(row), rate, ofSaturation, percents(row.queueShare), latency, ...preempted];
    });
  const own = ["programs", "of saturation", "reached", "Parrot, a token"];
  const header = ["engines, applications", "queueing", ...own, ...systems.map((name) => `preempted, ${name}`)];
  return table(header, lines);
}
