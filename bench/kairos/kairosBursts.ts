import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mean } from "@/solver/numeric/quantile";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { pairsIn, ratioOf, type SeedPair } from "../lib/bySeed";
import { resultsFolder, writeRows, writeTables } from "../lib/results";
import { ratio, table } from "../lib/tables";
import { type BurstCase, type BurstRow, burstCases, burstsPresent, runBursts } from "./burstRun";

type Figure = "meanSecondsPerToken" | "p90SecondsPerToken" | "p95SecondsPerToken" | "p99SecondsPerToken";

const LATENCIES = [
  ["mean", "meanSecondsPerToken"],
  ["P90", "p90SecondsPerToken"],
  ["P99", "p99SecondsPerToken"],
] as const satisfies readonly (readonly [string, Figure])[];

const isSameLoad = (a: BurstRow, b: BurstRow): boolean => a.case === b.case && a.load === b.load;

const pairsOf = (rows: readonly BurstRow[], names: readonly [own: string, reference: string], figure: Figure): readonly SeedPair[] =>
  pairsIn(rows, names, { figure: (row) => row[figure], isSameCase: isSameLoad });

const fileOf = ({ name }: BurstCase): string => `kairos-bursts-${name.replaceAll(/[^a-z0-9]+/gi, "-")}`;

/** Rows of an earlier version on the same programs, kept by hand as `<file>-before.json`; none where there are none. */
function rowsBefore(of: BurstCase): readonly BurstRow[] {
  const file = join(resultsFolder(), `${fileOf(of)}-before.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as { readonly rows: readonly BurstRow[] }).rows : [];
}

const percent = (values: readonly number[]): string => `${(100 * mean(values)).toFixed(1)} %`;

/** A table of one case: load by load, ratios over the same programs with 90 % intervals over seeds. */
function burstTable(rows: readonly BurstRow[], before: readonly BurstRow[]): string {
  const loads = rows.filter(({ system }) => system === "Parrot");
  const earlier = before.map((row) => ({ ...row, system: `${row.system}, before` }));
  const lines = loads.map((parrot) => {
    const here = [...rows, ...earlier].filter((row) => isSameLoad(row, parrot));
    const over = (own: string, reference: string, figure: Figure = "meanSecondsPerToken") =>
      ratio(ratioOf(pairsOf(here, [own, reference], figure)));
    const preempted = (system: string) => percent(here.find((row) => row.system === system)?.preemptedShare ?? []);
    return [
      `${parrot.load} (${percent(parrot.queueFraction)} queueing)`,
      ...LATENCIES.map(([, figure]) => over("Kairos", "Parrot", figure)),
      ...LATENCIES.map(([, figure]) => over("Kairos", "Ayo", figure)),
      over("Kairos, no priority", "Kairos"),
      over("Kairos, no packing", "Kairos"),
      `${preempted("Parrot")}, ${preempted("Kairos")}`,
      ...(earlier.length === 0
        ? []
        : [
            over("Kairos, before", "Parrot, before"),
            over("Kairos, before", "Ayo, before"),
            over("Kairos", "Kairos, before"),
            over("Kairos", "Kairos, before", "p99SecondsPerToken"),
          ]),
    ];
  });
  const own = LATENCIES.map(([name]) => name);
  return table(
    [
      "load",
      ...own.map((name) => `over Parrot, ${name}`),
      ...own.map((name) => `over Ayo, ${name}`),
      "no priority",
      "no packing",
      "preempted, Parrot, Kairos",
      ...(earlier.length === 0 ? [] : ["before: over Parrot", "before: over Ayo", "after over before, mean", "after over before, P99"]),
    ],
    lines,
  );
}

async function measure(of: BurstCase): Promise<Measurement> {
  const rows = await runBursts(of);
  writeRows(fileOf(of), rows);
  writeTables(fileOf(of), [burstTable(rows, rowsBefore(of))]);
  const over = (reference: string) => ratioOf(pairsOf(rows, ["Kairos", reference], "meanSecondsPerToken"));
  const parrot = over("Parrot");
  return {
    figure: parrot?.value ?? Number.NaN,
    unit: "x",
    detail: `mean program-level token latency over Parrot's ${ratio(parrot)}, over Ayo's ${ratio(over("Ayo"))}, geometric mean over loads of 0.7, 1 and 1.3 times saturation, ${rows[0]?.queueFraction.length ?? 0} seeds, gaps between arrivals with a coefficient of variation of ${mean(rows[0]?.burstiness ?? []).toFixed(1)}; the source co-located 0.27 to 0.55 and 0.62 to 0.94`,
  };
}

/** Kairos on arrivals of production traces, below, at and above saturation; none where the data is missing. */
export const kairosBurstBenchmarks: readonly Benchmark[] = burstsPresent()
  ? burstCases.map((of) => ({ name: `kairos bursts: ${of.name}`, budget: null, run: () => measure(of) }))
  : [];
