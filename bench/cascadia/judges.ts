import type { ComparisonContext } from "@/server/planning/compare/compareGround";
import { type ComparedGate, type GatedSystem, gatePlanner } from "@/server/planning/rates/ratePlanners";
import { type AtRate, highestReplanned, measuredAt } from "@/server/planning/rates/replanned";
import { routedBy } from "@/solver/baselines/measure";
import { mean } from "@/solver/numeric/quantile";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { distinct, ratioOf } from "../lib/bySeed";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { keptRows, writeRows, writeTables } from "../lib/results";
import { ratio, table } from "../lib/tables";
import { type CascadiaCase, type CascadiaLadder, cascadiaCases } from "./cases";
import { classifierGate, judgeOfAuc } from "./gates";
import { measuringOf } from "./race";
import { caseName, caseScene, type LadderScene, ladderScene } from "./scene";

/**
 * Mostly hard prompts and a floor half of the way between 8B and 405B: the race's judge cascade asks its judge there, at its highest rate and
 * at half of it. Where plans are one model alone no judge is asked, and all judges are equal.
 */
const [LADDER, CASE] = [0, 0] as const;

/** The judge that the others are compared with. */
export const USUAL = "judge of AUC 0.8";

/** A judge under one seed, as `npm run bench -- "Cascadia, judge"` writes it. */
export interface JudgeRow {
  readonly case: string;
  readonly seed: number;
  readonly gate: string;
  readonly floor: number;
  readonly highest: AtRate | null;
  /** At half of the usual judge's highest rate; null: there is no plan. */
  readonly half: AtRate | null;
  /** Share of the requests that a larger model than the ladder's smallest answers, there. */
  readonly toLarger: number | null;
}

const judgesOf = (scene: LadderScene): readonly ComparedGate[] => [
  ...[0.5, 0.7, 0.8, 0.9, 1].map((auc) => judgeOfAuc(scene, auc)),
  ...[0.7, 0.8].map((auc) => classifierGate(scene, auc)),
];

function judgedCase(): { readonly ladder: CascadiaLadder; readonly one: CascadiaCase } {
  const ladder = cascadiaCases.ladders[LADDER];
  const one = ladder?.cases[CASE];
  if (ladder === undefined || one === undefined) throw new Error("no case of judges");
  return { ladder, one };
}

/** Rows of another case than today's are not kept ones. */
export const isOfJudgedCase = (row: Pick<JudgeRow, "case">): boolean => row.case === caseName(judgedCase().ladder, judgedCase().one);

const NAME = "cascadia-judges";

/** Requests a second: tried first for the usual judge. */
const FIRST_RATE = 300;

/** `WEIR_BENCH_KEPT=1` takes the seeds that an earlier run kept. */
const raced = once(async (): Promise<readonly JudgeRow[]> => {
  const before = (keptRows<JudgeRow>(NAME) ?? []).filter(isOfJudgedCase);
  const rows: JudgeRow[] = [];
  for (const seed of cascadiaCases.seeds) {
    const kept = before.filter((row) => row.seed === seed);
    rows.push(...(kept.length > 0 ? kept : await racedUnder(seed)));
    writeRows(NAME, rows);
  }
  writeTables(NAME, [judgeTable(rows)]);
  return rows;
});

async function racedUnder(seed: number): Promise<readonly JudgeRow[]> {
  const { ladder, one } = judgedCase();
  const scene = await ladderScene(ladder, seed);
  const own = caseScene(scene, one);
  const { floor, context, name } = own;
  const measuring = await measuringOf(scene, own, "perturbed");
  const planners = judgesOf(scene).map((gate) => gatePlanner(context, gate, floor));
  const usual = planners.find(({ kind }) => kind === USUAL);
  const reference = usual === undefined ? null : highestReplanned(usual, measuring, FIRST_RATE);
  const from = reference?.requestsPerSecond ?? FIRST_RATE;
  const rows = planners.map((planner): JudgeRow => {
    const half = planner.plan(from / 2);
    return {
      ...{ case: name, seed, gate: planner.kind, floor },
      highest: planner === usual ? reference : highestReplanned(planner, measuring, from),
      half: half === null ? null : measuredAt(half, measuring, from / 2),
      toLarger: half === null ? null : toLarger(half, context),
    };
  });
  process.stderr.write(`judges: ${name}, seed ${seed}\n`);
  return rows;
}

/** On held-out prompts: of a cascade from the smallest model what its second stage sees, else everything. */
function toLarger({ system, outcomes }: GatedSystem, { models, measuring }: ComparisonContext): number {
  if (system.stages[0]?.model !== models[0]) return 1;
  return routedBy(system, outcomes, measuring).share[1] ?? 0;
}

export function judgeTable(rows: readonly JudgeRow[]): string {
  const of = (gate: string, figure: (row: JudgeRow) => number | null): readonly number[] =>
    rows.filter((row) => row.gate === gate).map((row) => figure(row) ?? Number.NaN);
  const against = (gate: string, figure: (row: JudgeRow) => number | null): string =>
    ratio(ratioOf([{ own: of(gate, figure), reference: of(USUAL, figure) }]));
  return table(
    [
      ...["judge", "highest rate", "p95 at half the rate", "requests to a larger model, there", "plans that ask it, there"],
      ...["quality at the highest rate", "floor held", "plan at half the rate, first seed"],
    ],
    distinct(rows.map(({ gate }) => gate)).map((gate) => {
      const own = rows.filter((row) => row.gate === gate);
      return [
        ...[gate, against(gate, rateOf), against(gate, p95Of)],
        `${(100 * mean(of(gate, (row) => row.toLarger))).toFixed(0)} %`,
        `${own.filter(({ half }) => (half?.gateGpus ?? 0) > 0).length} of ${own.length}`,
        mean(of(gate, ({ highest }) => highest?.quality ?? null)).toFixed(1),
        `${own.filter(({ highest, floor }) => (highest?.quality ?? 0) >= floor).length} of ${own.length}`,
        own[0]?.half?.cascade ?? "-",
      ];
    }),
  );
}

const rateOf = ({ highest }: JudgeRow): number | null => highest?.requestsPerSecond ?? null;

export const p95Of = ({ half }: JudgeRow): number | null => half?.p95Seconds ?? null;

async function overUsual(gate: string): Promise<Measurement> {
  const rows = await raced();
  const of = (kind: string): readonly number[] => rows.filter((row) => row.gate === kind).map((row) => rateOf(row) ?? Number.NaN);
  const found = ratioOf([{ own: of(gate), reference: of(USUAL) }]);
  return {
    figure: found?.value ?? Number.NaN,
    unit: "x",
    detail: `highest rate over that with a ${USUAL}, ${ratio(found)}, ${rows[0]?.case}, ${cascadiaCases.seeds.length} seeds; both modelled, planned anew for every rate at one floor`,
  };
}

/** Weaker and stronger judges and a local classifier in the planner's cascade; none where the data is missing. */
export const judgeBenchmarks: readonly Benchmark[] = dataPresent()
  ? [
      "judge of AUC 0.5",
      "judge of AUC 0.7",
      "judge of AUC 0.9",
      "judge of AUC 1",
      "local classifier of AUC 0.7",
      "local classifier of AUC 0.8",
    ].map((gate) => ({ name: `Cascadia, ${gate}`, budget: null, run: () => overUsual(gate) }))
  : [];
