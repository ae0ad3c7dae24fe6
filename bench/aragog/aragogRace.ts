import { mean } from "@/solver/numeric/quantile";
import { atLeast, type Benchmark, type Measurement, overSeeds } from "../lib/benchmark";
import { ratioOf } from "../lib/bySeed";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import { ratio } from "../lib/tables";
import { answerScoresBenchmarks } from "./answerScores";
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
      // Oracle sets hold nothing worse than the largest models, so that they have no budget.
      budget: system === ORACLE ? null : atLeast(-2, "heads accept configurations that are wrong"),
      run: () => accuracy(system),
    }),
  ),
];

const PARTS = {
  "self-refine": { part: "all", own: allGpus(ORACLE), workflow: "self-refine" },
  voting: { part: "all", own: allGpus(ORACLE), workflow: "voting" },
  "half the GPUs, self-refine": { part: "half the GPUs", own: ORACLE, workflow: "self-refine" },
  "half the GPUs, voting": { part: "half the GPUs", own: ORACLE, workflow: "voting" },
  "agents share a model, self-refine": { part: "agents share a model", own: allGpus(ORACLE), workflow: "self-refine" },
  "agents share a model, voting": { part: "agents share a model", own: allGpus(ORACLE), workflow: "voting" },
  "mixed families": { part: "mixed families", own: allGpus(ORACLE), workflow: null },
  "beam 8, self-refine": { part: "beams", own: "B 8", workflow: "self-refine" },
  "beam 8, voting": { part: "beams", own: "B 8", workflow: "voting" },
} as const;

/** Programs a second at overload in one part of the race. */
async function partOver(name: keyof typeof PARTS, reference: string): Promise<Measurement> {
  const { part, own, workflow } = PARTS[name];
  const rows = (await race()).filter((row) => row.part === part && (workflow === null || row.workflow === workflow));
  const pairs = pairsOf(rows, [own, reference], "programsPerSecond");
  const of = ratioOf(pairs);
  return {
    ...overSeeds(of),
    unit: "x",
    detail: `programs a second at overload of ${own}, geometric mean ${ratio(of)} of ${pairs.length} cases`,
  };
}

/** The least or the most over the cases of the whole race. */
async function endOver(end: "least" | "most", reference: string): Promise<Measurement> {
  const rows = (await race()).filter(({ part }) => part === "all");
  const each = pairsOf(rows, [allGpus(ORACLE), reference], "programsPerSecond").flatMap((pair) => ratioOf([pair]) ?? []);
  const [first, ...others] = each.toSorted((a, b) => (end === "least" ? a.value - b.value : b.value - a.value));
  return {
    ...overSeeds(first),
    unit: "x",
    detail: `programs a second at overload of ${allGpus(ORACLE)}, the ${end} of ${others.length + 1} cases`,
  };
}

const sourceFigures: readonly Benchmark[] = [[PER_INPUT, "per-input"] as const, [PER_WORKFLOW, "per-workflow"] as const].flatMap(
  ([reference, said]): Benchmark[] => [
    ...(Object.keys(PARTS) as (keyof typeof PARTS)[]).map((name) => ({
      name: `aragog race: ${name}, over ${said}`,
      budget: null,
      run: () => partOver(name, reference),
    })),
    ...(["least", "most"] as const).map((end) => ({
      name: `aragog race: ${end}, over ${said}`,
      budget: null,
      run: () => endOver(end, reference),
    })),
  ],
);

/** Throughputs that the source has a figure of, of the same race; `weir reproduce` shows them. */
export const aragogSourceFigures: readonly Benchmark[] = dataPresent() ? sourceFigures : [];

/** Aragog against the systems that its source compares it with, on programs made of real answers; none where the data is missing. */
export const aragogRaceBenchmarks: readonly Benchmark[] = dataPresent() ? [...figures, ...answerScoresBenchmarks] : [];
