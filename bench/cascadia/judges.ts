import { type ComparedGate, gatePlanner } from "@/server/planning/rates/ratePlanners";
import { type AtRate, highestReplanned, measuredAt } from "@/server/planning/rates/replanned";
import { routedBy } from "@/solver/baselines/measure";
import { mean } from "@/solver/numeric/quantile";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { distinct, ratioOf } from "../lib/bySeed";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import { ratio, table } from "../lib/tables";
import { cascadiaCases } from "./cases";
import { classifierGate, judgeOfAuc } from "./gates";
import { measuringOf } from "./race";
import { caseScene, type LadderScene, ladderScene } from "./scene";

/**
 * Mostly hard prompts and a floor three quarters of the way: the middle model alone misses it, and plans are cascades. Where one model alone
 * meets the floor, as with mostly easy prompts, no judge is asked, and all judges are equal.
 */
const [LADDER, CASE] = [1, 1] as const;

/** The judge that the others are compared with. */
const USUAL = "judge of AUC 0.8";

interface JudgeRow {
  readonly seed: number;
  readonly gate: string;
  readonly floor: number;
  readonly highest: AtRate | null;
  /** At half of the usual judge's highest rate. */
  readonly p95Seconds: number | null;
  /** Share of the requests that the last model answers, there. */
  readonly toLast: number | null;
}

const judgesOf = (scene: LadderScene): readonly ComparedGate[] => [
  ...[0.5, 0.7, 0.8, 0.9, 1].map((auc) => judgeOfAuc(scene, auc)),
  ...[0.7, 0.8].map((auc) => classifierGate(scene, auc)),
];

const raced = once(async (): Promise<readonly JudgeRow[]> => {
  const ladder = cascadiaCases.ladders[LADDER];
  const one = ladder?.cases[CASE];
  if (ladder === undefined || one === undefined) throw new Error("no case of judges");
  const rows: JudgeRow[] = [];
  for (const seed of cascadiaCases.seeds) {
    const scene = await ladderScene(ladder, seed);
    const { floor, context, name } = caseScene(scene, one);
    const measuring = await measuringOf(scene, caseScene(scene, one), "perturbed");
    const gates = judgesOf(scene);
    const planners = gates.map((gate) => gatePlanner(context, gate, floor));
    const usual = planners.find(({ kind }) => kind === USUAL);
    const reference = usual === undefined ? null : highestReplanned(usual, measuring, FIRST_RATE);
    for (const planner of planners) {
      const from = reference?.requestsPerSecond ?? FIRST_RATE;
      const half = planner.plan(from / 2);
      rows.push({
        ...{ seed, gate: planner.kind, floor, highest: planner === usual ? reference : highestReplanned(planner, measuring, from) },
        p95Seconds: half === null ? null : measuredAt(half, measuring, from / 2).p95Seconds,
        toLast: half === null ? null : (routedBy(half.system, half.outcomes, context.measuring).share.at(-1) ?? null),
      });
    }
    process.stderr.write(`judges: ${name}, seed ${seed}\n`);
  }
  writeRows("cascadia-judges", rows);
  writeTables("cascadia-judges", [judgeTable(rows)]);
  return rows;
});

/** Requests a second: tried first for the usual judge. */
const FIRST_RATE = 300;

function judgeTable(rows: readonly JudgeRow[]): string {
  const of = (gate: string, figure: (row: JudgeRow) => number | null): readonly number[] =>
    rows.filter((row) => row.gate === gate).map((row) => figure(row) ?? Number.NaN);
  const against = (gate: string, figure: (row: JudgeRow) => number | null): string =>
    ratio(ratioOf([{ own: of(gate, figure), reference: of(USUAL, figure) }]));
  return table(
    ["judge", "highest rate", "p95 at half the rate", "answered by the plan's last model", "quality", "floor held"],
    distinct(rows.map(({ gate }) => gate)).map((gate) => {
      const own = rows.filter((row) => row.gate === gate);
      return [
        ...[gate, against(gate, ({ highest }) => highest?.requestsPerSecond ?? null), against(gate, ({ p95Seconds }) => p95Seconds)],
        `${(100 * mean(of(gate, ({ toLast }) => toLast))).toFixed(0)} %`,
        mean(of(gate, ({ highest }) => highest?.quality ?? null)).toFixed(1),
        `${own.filter(({ highest, floor }) => (highest?.quality ?? 0) >= floor).length} of ${own.length}`,
      ];
    }),
  );
}

async function rateOf(gate: string): Promise<Measurement> {
  const rows = await raced();
  const of = (kind: string): readonly number[] =>
    rows.filter((row) => row.gate === kind).map(({ highest }) => highest?.requestsPerSecond ?? Number.NaN);
  const found = ratioOf([{ own: of(gate), reference: of(USUAL) }]);
  return {
    figure: found?.value ?? Number.NaN,
    unit: "x",
    detail: `highest rate over that with a ${USUAL}, ${ratio(found)}, ${cascadiaCases.seeds.length} seeds; both modelled, planned anew for every rate at one floor`,
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
    ].map((gate) => ({ name: `Cascadia, ${gate}`, budget: null, run: () => rateOf(gate) }))
  : [];
