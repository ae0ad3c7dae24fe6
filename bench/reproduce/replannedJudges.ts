import { cascadiaBenchmarks } from "../cascadia/cascadia";
import { cascadiaCases } from "../cascadia/cases";
import { type Benchmark, type Measurement, overSeeds } from "../lib/benchmark";
import { distinct, ratioOf } from "../lib/bySeed";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { keptOrRun } from "./keptOrRun";

/** A judge under one seed, as `npm run bench -- "Cascadia, judge"` writes it. */
interface JudgeRow {
  readonly seed: number;
  readonly gate: string;
  /** At half of the usual judge's highest rate. */
  readonly p95Seconds: number | null;
  /** Share of the requests that the last model answers, there. */
  readonly toLast: number | null;
}

const USUAL = "judge of AUC 0.8";
const WEAKER = "judge of AUC 0.7";
const CLASSIFIER = "local classifier of AUC 0.8";

/** One benchmark measures all judges. */
const judges = once(() =>
  keptOrRun<JudgeRow>({
    name: "cascadia-judges",
    isWhole: (rows) => [USUAL, WEAKER, CLASSIFIER].every((gate) => seedsOf(rows, gate) === cascadiaCases.seeds.length),
    run: async () => cascadiaBenchmarks.find(({ name }) => name === `Cascadia, ${WEAKER}`)?.run(),
  }),
);

const seedsOf = (rows: readonly JudgeRow[], gate: string): number =>
  distinct(rows.flatMap((row) => (row.gate === gate ? [row.seed] : []))).length;

async function measured(gate: string, figure: "p95Seconds" | "toLast"): Promise<Measurement> {
  const { rows, source } = await judges();
  const of = (kind: string): readonly number[] => rows.flatMap((row) => (row.gate === kind ? [row[figure] ?? Number.NaN] : []));
  const what = figure === "toLast" ? "share of the requests that the plan's last model answers" : "p95";
  return {
    ...overSeeds(ratioOf([{ own: of(gate), reference: of(USUAL) }])),
    unit: "x",
    detail: `${what}, ${gate} over ${USUAL}, at half of the latter's highest rate; both modelled, planned anew at one floor; ${source}`,
  };
}

export const replannedJudges = {
  weakerToLast: `re-planned, requests sent to the last model, ${WEAKER}`,
  weakerLatency: `re-planned, p95, ${WEAKER}`,
  classifierLatency: `re-planned, p95, ${CLASSIFIER}`,
} as const;

/** Judges of other reliability against the usual one; none without the data. */
export const judgeRatioBenchmarks: readonly Benchmark[] = dataPresent()
  ? [
      { name: replannedJudges.weakerToLast, budget: null, run: () => measured(WEAKER, "toLast") },
      { name: replannedJudges.weakerLatency, budget: null, run: () => measured(WEAKER, "p95Seconds") },
      { name: replannedJudges.classifierLatency, budget: null, run: () => measured(CLASSIFIER, "p95Seconds") },
    ]
  : [];
