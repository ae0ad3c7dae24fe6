import type { Benchmark, Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { keptRows, keptRun, writeRows, writeTables } from "../lib/results";
import { type CascadiaLadder, cascadiaCases } from "./cases";
import { detectedBenchmarks } from "./detected";
import { judgeBenchmarks } from "./judges";
import { type RaceRow, raceLadder } from "./race";
import { caseTable, ofCommonSeeds, planTable, ratioTable, seedSentence, targetResults, targetTable } from "./tables";
import { gateSentence, weirPlanTable } from "./weirPlans";
import { wildbenchBenchmarks } from "./wildbench";

export { detectedRatio, detectedScale, type Watched, WINDOWS_SECONDS } from "./detected";
export { isOfJudgedCase, type JudgeRow, p95Of, USUAL } from "./judges";
export { namedPlanBenchmarks, namedPlanText, planFigureName } from "./namedPlan";

const nameOf = (ladder: CascadiaLadder): string => `cascadia-${ladder.family.toLowerCase()}`;

/** `WEIR_BENCH_KEPT=1` takes the whole seeds that an earlier run kept, and races the others. */
const races = new Map(
  cascadiaCases.ladders.map((ladder) => [
    ladder,
    once(async () => {
      const name = nameOf(ladder);
      const rows = await raceLadder(ladder, "perturbed", {
        before: keptRows<RaceRow>(name) ?? [],
        onSeed: (own) => {
          writeRows(name, own);
          writeRaceTables(ladder, own);
        },
      });
      writeRaceTables(ladder, rows);
      return rows;
    }),
  ]),
);

/** The tables of a ladder, and those of all ladders' last runs, so that ladders may be run one at a time. */
function writeRaceTables(ladder: CascadiaLadder, rows: readonly RaceRow[]): void {
  writeTables(nameOf(ladder), [ratioTable(rows), caseTable(rows), planTable(rows)]);
  const all = ofCommonSeeds(cascadiaCases.ladders.flatMap((one) => keptRun<RaceRow>(nameOf(one))?.rows ?? []));
  writeTables("cascadia-all", [seedSentence(all), targetTable(all), ratioTable(all)]);
  writeTables("cascadia-cases", [caseTable(all)]);
  writeTables("cascadia-plans", [gateSentence(all), weirPlanTable(all)]);
}

/** The worst of the targets' ratios over what they ask. */
async function raced(ladder: CascadiaLadder): Promise<Measurement> {
  const rows = (await races.get(ladder)?.()) ?? [];
  const results = targetResults(rows);
  // A system may have no plan in any case of a ladder.
  const known = results.flatMap(({ target, ratio }) => (ratio === null ? [] : [{ target, ratio }]));
  const worst = known.reduce((a, b) => (a.ratio / a.target.atLeast <= b.ratio / b.target.atLeast ? a : b));
  return {
    figure: worst.ratio,
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
