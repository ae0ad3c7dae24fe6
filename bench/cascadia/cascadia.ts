import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { resultsFolder, writeRows, writeTables } from "../lib/results";
import { type CascadiaLadder, cascadiaCases } from "./cases";
import { detectedBenchmarks } from "./detected";
import { judgeBenchmarks } from "./judges";
import { type RaceRow, raceLadder } from "./race";
import { caseTable, planTable, ratioTable, targetResults, targetTable } from "./tables";
import { wildbenchBenchmarks } from "./wildbench";

const nameOf = (ladder: CascadiaLadder): string => `cascadia-${ladder.family.toLowerCase()}`;

const races = new Map(
  cascadiaCases.ladders.map((ladder) => [ladder, once(() => raceLadder(ladder, "perturbed", (rows) => write(ladder, rows)))]),
);

function write(ladder: CascadiaLadder, rows: readonly RaceRow[]): void {
  writeRows(nameOf(ladder), rows);
  writeTables(nameOf(ladder), [ratioTable(rows), caseTable(rows), planTable(rows)]);
  const all = keptRows();
  writeTables("cascadia-all", [targetTable(all), ratioTable(all)]);
}

/** The rows of every ladder's last run, so that ladders may be run one at a time. */
function keptRows(): readonly RaceRow[] {
  return cascadiaCases.ladders.flatMap((ladder) => {
    const file = join(resultsFolder(), `${nameOf(ladder)}.json`);
    return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as { readonly rows: readonly RaceRow[] }).rows : [];
  });
}

/** The worst of the targets' ratios over what they ask. */
async function raced(ladder: CascadiaLadder): Promise<Measurement> {
  const rows = (await races.get(ladder)?.()) ?? [];
  const results = targetResults(rows);
  const worst = results.reduce((a, b) => ((a.ratio ?? 0) / a.target.atLeast <= (b.ratio ?? 0) / b.target.atLeast ? a : b));
  return {
    figure: worst.ratio ?? Number.NaN,
    unit: "x",
    detail: `worst against its target: ${worst.target.against}, at least ${worst.target.atLeast}; ${results.map(({ target, detail }) => `${target.against}: ${detail}`).join("; ")}; ${cascadiaCases.seeds.length} seeds, held-out prompts on an unseen part of the trace, engines perturbed by the seed`,
  };
}

/** Weir and the systems of its source planned anew at every rate, one benchmark a ladder; judges; detected drift. None without the data. */
export const cascadiaBenchmarks: readonly Benchmark[] = [
  ...(dataPresent()
    ? cascadiaCases.ladders.map((ladder) => ({ name: `Cascadia, re-planned: ${ladder.name}`, budget: null, run: () => raced(ladder) }))
    : []),
  ...judgeBenchmarks,
  ...wildbenchBenchmarks,
  ...detectedBenchmarks,
];
