import { mean } from "@/solver/numeric/quantile";
import { type Benchmark, type Measurement, overSeeds } from "../lib/benchmark";
import { ratioOf } from "../lib/bySeed";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import { ratio } from "../lib/tables";
import { allGpus, LEARNT, LIKE_SOURCE, ORACLE, PER_INPUT, PER_WORKFLOW, PER_WORKFLOW_ALLOWED, type RaceRow, raceCases } from "./raceCase";
import { raceOf } from "./raceRun";
import { pairsOf, raceTables } from "./raceTables";

/** The whole race; all of it is recorded. */
const race = once(async (): Promise<readonly RaceRow[]> => {
  const rows: RaceRow[] = [];
  for (const of of raceCases) {
    rows.push(...(await raceOf(of)));
    process.stderr.write(`aragog race, ${of.part}, ${of.ladder.name}, ${of.workflow}\n`);
  }
  writeRows("aragog-race", rows);
  writeTables("aragog-race", raceTables(rows));
  return rows;
});

/** Points by which a system exceeds the largest models throughout, in each case, at overload. */
const pointsOf = (rows: readonly RaceRow[], system: string): readonly number[] =>
  rows
    .filter((row) => row.load === "overload" && row.system === system)
    .map(({ quality, largestQuality }) => mean(quality) - mean(largestQuality));

const inTenths = (values: readonly number[]): string => values.map((each) => each.toFixed(1)).join(", ");

/** Programs a second of one system relative to another's at overload, over the cases of the race, and the cost in accuracy. */
async function throughputOver(own: string, reference: string, source: string): Promise<Measurement> {
  const rows = (await race()).filter(({ part }) => part === "all");
  const pairs = pairsOf(rows, [own, reference], "programsPerSecond");
  const of = ratioOf(pairs);
  const byCase = pairs.map((pair) => (ratioOf([pair])?.value ?? Number.NaN).toFixed(2)).join(", ");
  const detail = `programs a second at overload, geometric mean ${ratio(of)} over two ladders and four workflows, each ${byCase}; points above the largest models throughout ${inTenths(pointsOf(rows, own))}, the other's ${inTenths(pointsOf(rows, reference))}; the source ${source}`;
  return { ...overSeeds(of), unit: "x", detail };
}

/** Minimum difference of a system's accuracy from that of the largest models, over the cases of the race. */
async function accuracy(system: string): Promise<Measurement> {
  const points = pointsOf(
    (await race()).filter(({ part }) => part === "all"),
    system,
  );
  const detail = `above the largest models throughout, least of ${inTenths(points)}; outcomes modelled; the source within 2`;
  return { figure: Math.min(...points), unit: "points", detail };
}

const figures: readonly Benchmark[] = [
  ...[ORACLE, allGpus(ORACLE), LEARNT, LIKE_SOURCE].flatMap((own): Benchmark[] => [
    { name: `aragog race: ${own} over per-input`, budget: null, run: () => throughputOver(own, PER_INPUT, "1.43 to 1.76") },
    { name: `aragog race: ${own} over per-workflow`, budget: null, run: () => throughputOver(own, PER_WORKFLOW, "1.78 to 3.17") },
  ]),
  ...[LEARNT, LIKE_SOURCE].map(
    (own): Benchmark => ({
      name: `aragog race: ${own} over per-workflow with 2 points allowed`,
      budget: null,
      run: () => throughputOver(own, PER_WORKFLOW_ALLOWED, "holds no such race"),
    }),
  ),
  ...[ORACLE, LEARNT, LIKE_SOURCE].map(
    (system): Benchmark => ({
      name: `aragog race: accuracy of ${system}`,
      budget: { figure: -2, keep: "at least" },
      run: () => accuracy(system),
    }),
  ),
];

/** Aragog against the systems that its source compares it with, on programs made of real answers; none where the data is missing. */
export const aragogRaceBenchmarks: readonly Benchmark[] = dataPresent() ? figures : [];
