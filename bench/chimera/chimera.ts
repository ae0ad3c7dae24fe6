import type { SeedEstimate } from "@/solver/lab/overSeeds";
import { atLeast, atMost, type Benchmark, type Measurement, overSeeds } from "../lib/benchmark";
import { differenceOf, ratioOf, timesLess } from "../lib/bySeed";
import { dataPresent } from "../lib/compareData";
import { encoderFolder, miniLm } from "../lib/encoded";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import { ratio, signed } from "../lib/tables";
import { ablationTable, effectSentence, effectTable } from "./ablation";
import { type AgingRow, agingRuns } from "./aging";
import { LOADS, NO_WORSE_POINTS, SEEDS, WANTED } from "./cases";
import { choiceSentence, dominated, dominationTable, systemOf, VLLM, verdicts, verdictTable } from "./domination";
import { type FrontierRow, frontier } from "./frontier";
import { type QueueTimeRow, queueTimes } from "./queueTimes";
import { schedulerShares, shareTable } from "./schedulerShare";
import { against, agingTable, ladderTable, queueRatio, queueTimesByModel, queueTimeTable, spans, systemTable } from "./summaries";

const [, SATURATED] = LOADS;

/** The point that represents Chimera's frontier where a single one is needed. */
const MIDDLE = "Chimera|2|0.1|-";

/** Variants whose points are preferred together, and what they are compared with. */
const DOMINATING = [["Chimera"], ["Chimera", "Chimera, priced"], ["load rule only"], ["oracle router"]] as const;
const BASELINES = [VLLM, ...["MLFQ", "MLFQ, preempting", "LTR", "STJF oracle"].map((name) => `${name}|-|-|-`)];

const progress = (line: string): void => void process.stderr.write(`${line}\n`);

/** Runs an ablation once, whatever the number of its figures, and records all of it. */
const ablation = <Row>(name: string, run: () => Promise<readonly Row[]>, tables: (rows: readonly Row[]) => readonly string[]) =>
  once(async () => {
    const rows = await run();
    writeRows(`chimera-${name}`, rows);
    const parts = tables(rows);
    writeTables(`chimera-${name}`, parts);
    progress(`\n${parts.join("\n\n")}\n`);
    return rows;
  });

const queue = ablation(
  "queue",
  () => queueTimes(progress),
  (rows) => [
    queueTimeTable(rows),
    `By model at a load of ${SATURATED}, stages correlated by 0.5:`,
    queueTimesByModel(rows, SATURATED, 0.5),
  ],
);
const race = ablation(
  "frontier",
  () => frontier(progress),
  (rows) => [
    "Times faster a token than vLLM's balancing, and points more, over the ladders:",
    systemTable(rows, "secondsPerToken"),
    "Times faster a program, likewise:",
    systemTable(rows, "makespanSeconds"),
    `Cases in which a system dominates another: faster a token, and no worse by more than ${NO_WORSE_POINTS} point, with whole intervals:`,
    dominationTable(rows, DOMINATING, BASELINES),
    "Chimera against vLLM's balancing, case by case:",
    verdictTable(rows, ["Chimera"]),
    choiceSentence(rows, ["Chimera"]),
    "With and without each signal, over vLLM's balancing:",
    ablationTable(rows),
    "What confidence adds to the load rule:",
    effectTable(rows),
    effectSentence(rows),
    `Chimera at slack ${MIDDLE.split("|")[1]} and margin ${MIDDLE.split("|")[2]}, by ladder:`,
    ladderTable(rows, MIDDLE),
    `Under vLLM's balancing arrivals last at least ${spans(rows)} what a program takes in the mean.`,
  ],
);
const onEncoder = ablation(
  "encoder",
  () => frontier(progress, "encoder"),
  (rows) => [
    "Chimera, whose confidence heads read an encoder's embeddings, against vLLM's balancing, case by case:",
    verdictTable(rows, ["Chimera"]),
    choiceSentence(rows, ["Chimera"]),
    `At slack ${MIDDLE.split("|")[1]} and margin ${MIDDLE.split("|")[2]}, by ladder:`,
    ladderTable(rows, MIDDLE),
  ],
);
const shares = ablation(
  "scheduler",
  () => schedulerShares(progress),
  (rows) => [shareTable(rows)],
);
const aging = ablation(
  "aging",
  () => agingRuns(progress),
  (rows) => [agingTable(rows)],
);

/** The figure of an estimate, and its interval in words. */
function measurement(of: SeedEstimate | null, unit: string, words: string, interval: string): Measurement {
  return { ...overSeeds(of), unit, detail: `${words}; with its 90 % interval over seeds ${interval}` };
}

async function queueFigure(lengths: QueueTimeRow["lengths"], own: "sjf" | "stjf", reference: "fcfs" | "sjf"): Promise<Measurement> {
  const rows = (await queue()).filter((row) => row.lengths === lengths && row.correlation === 0.5 && row.load === SATURATED);
  const of = queueRatio(rows, own, reference);
  const words = `geometric mean over ${rows.length} models and tasks, each alone on an engine at ${SATURATED} of saturation, stages correlated by 0.5`;
  return measurement(of, "x", words, ratio(of));
}

async function raced(baseline: string, figure: "secondsPerToken" | "quality"): Promise<Measurement> {
  const rows = await race();
  const own: readonly FrontierRow[] = rows.filter((row) => systemOf(row) === MIDDLE && row.load === SATURATED);
  const pairs = against(rows, own, `${baseline}|-|-|-`, figure);
  const words = `slack and margin ${MIDDLE.split("|").slice(1, 3).join(" and ")}, over ${pairs.length} ladders at ${SATURATED} of saturation, learnt lengths and confidence`;
  if (figure === "quality") {
    const of = differenceOf(pairs);
    return measurement(of, "points", words, signed(of));
  }
  const of = timesLess(pairs);
  return measurement(of, "x", words, ratio(of));
}

/**
 * Variants with a part left out or replaced by the truth, each against Chimera at the same slack. The oracle router has another margin than
 * any point of Chimera: the nearest.
 */
const PARTS = [
  { part: "load rule only", at: "2|-|-", chimera: MIDDLE },
  { part: "oracle lengths", at: "1|0|-", chimera: "Chimera|1|0|-" },
  { part: "oracle router", at: "8|0.05|-", chimera: "Chimera|8|0.1|-" },
] as const;

/** Latency of a variant over Chimera's: above 1 Chimera is faster. */
async function partOver({ part, at, chimera }: (typeof PARTS)[number]): Promise<Measurement> {
  const rows = await race();
  const own = rows.filter((row) => systemOf(row) === chimera && row.load === SATURATED);
  const pairs = (figure: "secondsPerToken" | "quality") => against(rows, own, `${part}|${at}`, figure);
  const of = timesLess(pairs("secondsPerToken"));
  const [slack, margin] = chimera.split("|").slice(1);
  const words = `Chimera at slack ${slack} and margin ${margin} over ${own.length} ladders at ${SATURATED} of saturation, with ${signed(differenceOf(pairs("quality")))} points more than ${part}`;
  return measurement(of, "x", words, ratio(of));
}

/** Cases in which Chimera dominates vLLM's balancing. */
async function dominance(rows: readonly FrontierRow[], heads: string): Promise<Measurement> {
  const found = verdicts(rows, ["Chimera"]);
  return {
    figure: dominated(found),
    unit: `of ${found.length} cases`,
    detail: `confidence heads on ${heads}, five ladders at three loads, ${SEEDS.length} seeds each: faster a token than vLLM's balancing with the whole 90 % interval, and the whole interval of the points above -${NO_WORSE_POINTS}; each seed is measured at the slack and margin that the others prefer`,
  };
}

async function largestShare(): Promise<Measurement> {
  const rows = await shares();
  const most = rows.reduce((one, other) => (other.share > one.share ? other : one));
  return {
    figure: 100 * most.share,
    unit: "% of a program's time",
    detail: `the policy's calls, and router and predictor in batches, on one core, over the simulated time of programs; the largest of ${rows.length}: ${most.family} on ${most.task} at ${most.load}. The source: at most 2.2 %`,
  };
}

async function worstWait(arm: string, reference: string): Promise<Measurement> {
  const rows = (await aging()).filter(({ order, load, times }) => order === "stjf" && load > 1 && times === 1);
  const of = (name: string): readonly AgingRow[] => rows.filter((row) => row.arm === name);
  const pairs = (figure: "longestWaitSeconds" | "queueSeconds") =>
    of(arm).map((row, at) => ({ own: row[figure], reference: of(reference)[at]?.[figure] ?? [] }));
  const worst = ratioOf(pairs("longestWaitSeconds"));
  const words = `${arm} over ${reference}, ${of(arm).length} models and tasks above saturation, shortest program first by true lengths; the mean wait ${ratio(ratioOf(pairs("queueSeconds")))} times`;
  return measurement(worst, "x", words, ratio(worst));
}

const figures: readonly Benchmark[] = [
  ...(["oracle", "learnt"] as const).flatMap((lengths): Benchmark[] => [
    { name: `chimera: queue time of SJF over FCFS, ${lengths} lengths`, budget: null, run: () => queueFigure(lengths, "sjf", "fcfs") },
    { name: `chimera: queue time of STJF over SJF, ${lengths} lengths`, budget: null, run: () => queueFigure(lengths, "stjf", "sjf") },
  ]),
  ...["vLLM balancing", "MLFQ", "LTR"].flatMap((baseline): Benchmark[] => [
    { name: `chimera: latency a token of ${baseline} over Chimera's`, budget: null, run: () => raced(baseline, "secondsPerToken") },
    { name: `chimera: quality over ${baseline}'s`, budget: null, run: () => raced(baseline, "quality") },
  ]),
  ...PARTS.map(
    (part): Benchmark => ({ name: `chimera: latency a token of ${part.part} over Chimera's`, budget: null, run: () => partOver(part) }),
  ),
  {
    name: "chimera: cases in which vLLM's balancing is dominated",
    budget: atLeast(WANTED, "confidence tells too little for a smaller model to be chosen safely"),
    run: async () => dominance(await race(), "words"),
  },
  ...(encoderFolder() === null
    ? []
    : [
        {
          name: "chimera: cases in which vLLM's balancing is dominated, heads on an encoder",
          budget: null,
          run: async () => dominance(await onEncoder(), miniLm.name),
        },
      ]),
  {
    name: "chimera: the scheduler's share of a program's time",
    budget: atMost(2.2, "policy, router and predictor cost more, or programs become faster"),
    run: largestShare,
  },
  {
    name: "chimera: worst wait with aging in engines",
    budget: null,
    run: () => worstWait("engines, S 1000, Q 100", "engines, no aging"),
  },
  {
    name: "chimera: worst wait with aging in the centre",
    budget: null,
    run: () => worstWait("centre, S 320 releases", "centre, no aging"),
  },
];

/**
 * Chimera's parts one by one, and the whole compared with its baselines, on programs made of real answers; none where the data is missing.
 */
export const chimeraBenchmarks: readonly Benchmark[] = dataPresent() ? figures : [];
