import { mean } from "@/solver/numeric/quantile";
import { allGpus, LEARNT, LIKE_SOURCE, ORACLE, PER_INPUT, PER_WORKFLOW, type RaceRow } from "./aragog/raceCase";
import { raceCases } from "./aragog/raceCases";
import { raceOf } from "./aragog/raceRun";
import { pairsOf, raceTables } from "./aragog/raceTables";
import type { Benchmark, Measurement } from "./benchmark";
import { ratioOf } from "./chimera/bySeed";
import { ratio } from "./chimera/tables";
import { dataPresent } from "./compareData";
import { writeRows, writeTables } from "./results";

let racing: Promise<readonly RaceRow[]> | null = null;

/** The whole race, once, however many figures are asked of it; all of it is written down. */
function race(): Promise<readonly RaceRow[]> {
  racing ??= raceAll();
  return racing;
}

async function raceAll(): Promise<readonly RaceRow[]> {
  const rows: RaceRow[] = [];
  for (const of of raceCases) {
    rows.push(...(await raceOf(of)));
    process.stderr.write(`aragog race, ${of.part}, ${of.ladder.name}, ${of.workflow}\n`);
  }
  writeRows("aragog-race", rows);
  writeTables("aragog-race", raceTables(rows));
  return rows;
}

/** Programs a second of one system over another's at overload, over the cases of the race. */
async function throughputOver(own: string, reference: string, source: string): Promise<Measurement> {
  const rows = (await race()).filter(({ part }) => part === "all");
  const pairs = pairsOf(rows, [own, reference], "programsPerSecond");
  const of = ratioOf(pairs);
  const byCase = pairs.map((pair) => (ratioOf([pair])?.value ?? Number.NaN).toFixed(2)).join(", ");
  const detail = `programs a second at overload, geometric mean ${ratio(of)} over two ladders and four workflows, each ${byCase}; the source ${source}`;
  return { figure: of?.value ?? Number.NaN, unit: "x", detail };
}

/** The least that a system's accuracy is above that of the largest models, over the cases of the race. */
async function accuracy(system: string): Promise<Measurement> {
  const rows = (await race()).filter((row) => row.part === "all" && row.load === "overload" && row.system === system);
  const points = rows.map(({ quality, largestQuality }) => mean(quality) - mean(largestQuality));
  const detail = `above the largest models throughout, least of ${points.map((each) => each.toFixed(1)).join(", ")}; outcomes modelled; the source within 2`;
  return { figure: Math.min(...points), unit: "points", detail };
}

const figures: readonly Benchmark[] = [
  ...[ORACLE, allGpus(ORACLE), LEARNT, allGpus(LEARNT), LIKE_SOURCE].flatMap((own): Benchmark[] => [
    { name: `aragog race: ${own} over per-input`, budget: null, run: () => throughputOver(own, PER_INPUT, "1.43 to 1.76") },
    { name: `aragog race: ${own} over per-workflow`, budget: null, run: () => throughputOver(own, PER_WORKFLOW, "1.78 to 3.17") },
  ]),
  ...[ORACLE, LEARNT].map(
    (system): Benchmark => ({
      name: `aragog race: accuracy of ${system}`,
      budget: { figure: -2, keep: "at least" },
      run: () => accuracy(system),
    }),
  ),
];

/** Aragog against what its source compares it with, on programs made of real answers; none where the data is missing. */
export const aragogRaceBenchmarks: readonly Benchmark[] = dataPresent() ? figures : [];
