import { exponential, type SeedEstimate, seedEstimate } from "@/solver/lab/overSeeds";
import { quantile } from "@/solver/numeric/quantile";
import { type Benchmark, type Measurement, overSeeds as seeded } from "../lib/benchmark";
import { writeRows, writeTables } from "../lib/results";
import { estimate, ratio, table } from "../lib/tables";
import { TRUTH_SEEDS } from "./measuredInstances";
import { onlineEngines, onlineQuestions, type RoundSchedule, serveInRounds } from "./onlineRounds";
import { mmluPro } from "./sourceInstances";

/** Questions a second: the first is light for every system, the last more than the baselines keep up with. */
const RATES = [0.15, 0.3, 0.6] as const;
const QUESTIONS = 600;

interface OnlineSystem {
  readonly name: string;
  readonly schedule: RoundSchedule;
  /** null: every question is aggregated. */
  readonly tau: number | null;
}

const ROUND_ROBIN: OnlineSystem = { name: "round-robin, always aggregated", schedule: "round-robin", tau: null };
const PLACED: OnlineSystem = { name: "placed, gated at 2/3", schedule: "placed", tau: 2 / 3 };

const SYSTEMS: readonly OnlineSystem[] = [
  ROUND_ROBIN,
  { name: "data-concurrent, always aggregated", schedule: "data-concurrent", tau: null },
  { name: "list scheduling, always aggregated", schedule: "list scheduling", tau: null },
  { name: "placed, always aggregated", schedule: "placed", tau: null },
  { name: "round-robin, gated at 2/3", schedule: "round-robin", tau: 2 / 3 },
  PLACED,
];

interface OnlineCell {
  readonly system: OnlineSystem;
  readonly perSecond: number;
  readonly seed: number;
  readonly meanSeconds: number;
  readonly p95Seconds: number;
  readonly rounds: number;
  readonly widestGap: number;
}

const known = new Map<number, ReturnType<typeof onlineEngines>>();

function enginesOf(seed: number): ReturnType<typeof onlineEngines> {
  const found = known.get(seed) ?? onlineEngines(mmluPro, { questions: QUESTIONS, seed });
  known.set(seed, found);
  return found;
}

function cells(): readonly OnlineCell[] {
  return RATES.flatMap((perSecond) =>
    TRUTH_SEEDS.flatMap((seed) => {
      const questions = onlineQuestions(mmluPro, { questions: QUESTIONS, perSecond, seed });
      const engines = enginesOf(seed);
      return SYSTEMS.map((system): OnlineCell => {
        const { seconds, rounds, widestGap } = serveInRounds(engines, questions, system);
        const meanSeconds = seconds.reduce((sum, one) => sum + one, 0) / seconds.length;
        return { system, perSecond, seed, meanSeconds, p95Seconds: quantile(seconds, 0.95), rounds, widestGap };
      });
    }),
  );
}

/** Serving MMLU-Pro's ensemble online: end-to-end time of questions that arrive at random. */
function online(): Measurement {
  const all = cells();
  const of = (system: OnlineSystem, perSecond: number): readonly OnlineCell[] =>
    all.filter((cell) => cell.system === system && cell.perSecond === perSecond);
  const over = (system: OnlineSystem, perSecond: number, read: (cell: OnlineCell) => number): SeedEstimate | null =>
    seedEstimate(of(system, perSecond).map(read));
  const faster = (perSecond: number, read: (cell: OnlineCell) => number, system: OnlineSystem): SeedEstimate | null => {
    const own = of(system, perSecond);
    const logarithms = seedEstimate(
      of(ROUND_ROBIN, perSecond).map((cell, at) => Math.log(read(cell) / (own[at] ? read(own[at]) : Number.NaN))),
    );
    return logarithms && exponential(logarithms);
  };
  const rows = RATES.flatMap((perSecond) =>
    SYSTEMS.map((system) => [
      ...[`${perSecond}`, system.name],
      estimate(over(system, perSecond, (cell) => cell.meanSeconds)),
      estimate(over(system, perSecond, (cell) => cell.p95Seconds)),
      system === ROUND_ROBIN ? "1" : ratio(faster(perSecond, (cell) => cell.meanSeconds, system)),
      system === ROUND_ROBIN ? "1" : ratio(faster(perSecond, (cell) => cell.p95Seconds, system)),
      estimate(over(system, perSecond, (cell) => cell.rounds)),
      system.schedule === "placed" ? (100 * Math.max(...of(system, perSecond).map(({ widestGap }) => widestGap))).toPrecision(2) : "-",
    ]),
  );
  const header = [
    ...["questions a second", "system", "mean s", "p95 s", "times faster, mean", "times faster, p95", "rounds", "widest gap %"],
  ];
  writeTables("ensemble-online", [table(header, rows)]);
  writeRows(
    "ensemble-online",
    all.map(({ system, ...figures }) => ({ system: system.name, ...figures })),
  );
  const middle = RATES[1];
  return {
    ...seeded(faster(middle, (cell) => cell.meanSeconds, PLACED)),
    unit: "times shorter, mean end-to-end",
    detail: `placed and gated at 2/3 against round-robin always aggregated, MMLU-Pro's questions at ${middle} a second in rounds on four workers, hidden engines, ${TRUTH_SEEDS.length} seeds; at ${RATES.map((rate) => `${rate}/s ${ratio(faster(rate, (cell) => cell.meanSeconds, PLACED))}`).join(", ")}; the source has no arrivals`,
  };
}

export const onlineEnsembleBenchmarks: readonly Benchmark[] = [
  { name: "ensembles online, Poisson arrivals", budget: null, run: () => online() },
];
