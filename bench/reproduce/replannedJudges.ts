import { cascadiaBenchmarks, isOfJudgedCase, type JudgeRow, p95Of, USUAL } from "../cascadia/cascadia";
import { cascadiaCases } from "../cascadia/cases";
import { type Benchmark, type Measurement, overSeeds } from "../lib/benchmark";
import { distinct, ratioOf } from "../lib/bySeed";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { keptOrRun } from "./keptOrRun";

const WEAKER = "judge of AUC 0.7";
const CLASSIFIER = "local classifier of AUC 0.8";

/** One benchmark measures all judges. */
const judges = once(() =>
  keptOrRun<JudgeRow>({
    name: "cascadia-judges",
    isWhole: (rows) =>
      rows.every(isOfJudgedCase) && [USUAL, WEAKER, CLASSIFIER].every((gate) => seedsOf(rows, gate) === cascadiaCases.seeds.length),
    run: async () => cascadiaBenchmarks.find(({ name }) => name === `Cascadia, ${WEAKER}`)?.run(),
  }),
);

const seedsOf = (rows: readonly JudgeRow[], gate: string): number =>
  distinct(rows.flatMap((row) => (row.gate === gate ? [row.seed] : []))).length;

async function measured(gate: string, what: string, figure: (row: JudgeRow) => number | null): Promise<Measurement> {
  const { rows, source } = await judges();
  const of = (kind: string): readonly number[] => rows.flatMap((row) => (row.gate === kind ? [figure(row) ?? Number.NaN] : []));
  return {
    ...overSeeds(ratioOf([{ own: of(gate), reference: of(USUAL) }])),
    unit: "x",
    detail: `${what}, ${gate} over ${USUAL}, at half of the latter's highest rate; both modelled, planned anew at one floor, ${rows[0]?.case}; ${source}`,
  };
}

export const replannedJudges = {
  weakerToLarger: `re-planned, requests sent to a larger model, ${WEAKER}`,
  weakerLatency: `re-planned, p95, ${WEAKER}`,
  classifierLatency: `re-planned, p95, ${CLASSIFIER}`,
} as const;

/** Judges of other reliability against the usual one; none without the data. */
export const judgeRatioBenchmarks: readonly Benchmark[] = dataPresent()
  ? [
      {
        name: replannedJudges.weakerToLarger,
        budget: null,
        run: () => measured(WEAKER, "share of the requests that a larger model than the smallest answers", (row) => row.toLarger),
      },
      { name: replannedJudges.weakerLatency, budget: null, run: () => measured(WEAKER, "p95", p95Of) },
      { name: replannedJudges.classifierLatency, budget: null, run: () => measured(CLASSIFIER, "p95", p95Of) },
    ]
  : [];
