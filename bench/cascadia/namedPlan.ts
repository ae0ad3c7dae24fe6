import { planAt } from "@/server/planning/compare/compareGround";
import { planBeside } from "@/server/planning/rates/ratePlanners";
import { type SystemStage, systemOf } from "@/solver/baselines/system";
import type { PlanDraft } from "@/solver/plan/plan";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { type CascadiaCase, type CascadiaLadder, cascadiaCases } from "./cases";
import { judgeGate } from "./gates";
import { caseName, caseScene, ladderScene } from "./scene";

/** The race's case whose plans have three stages and a judge, as the source's. */
const [LADDER, CASE, SEED] = [0, 1, 1] as const;

/** About half of CascadeServe's highest rate there. */
const REQUESTS_PER_SECOND = 110;

function namedCase(): { readonly ladder: CascadiaLadder; readonly one: CascadiaCase } {
  const ladder = cascadiaCases.ladders[LADDER];
  const one = ladder?.cases[CASE];
  if (ladder === undefined || one === undefined) throw new Error("no case to plan");
  return { ladder, one };
}

/** The case in words, for the reasons of rows. */
export const namedPlanText = `${caseName(namedCase().ladder, namedCase().one)}, ${REQUESTS_PER_SECOND} requests a second`;

/** What is read off a plan: stages by the plan's own predictions, GPUs of the judge apart. */
interface NamedPlan {
  readonly stages: readonly SystemStage[];
  readonly thresholds: readonly number[];
  readonly judgeGpus: number;
  readonly predictions: readonly Pick<PlanDraft["predictions"]["stages"][number], "share" | "p95Seconds">[];
}

const plannedCase = once(async (): Promise<NamedPlan> => {
  const { ladder, one } = namedCase();
  const scene = await ladderScene(ladder, SEED);
  const { context, floor } = caseScene(scene, one);
  const judge = judgeGate(scene);
  const drafts: PlanDraft[] = [];
  const planned = planBeside(context, judge, REQUESTS_PER_SECOND, (beside) => {
    const found = planAt(beside, floor, REQUESTS_PER_SECOND);
    if (found.outcome === "none") return null;
    drafts.push(found.plan);
    return {
      system: systemOf(found.plan, judge.outcomes),
      plannedSeconds: found.plan.predictions.p95Seconds,
      isNearSaturation: false,
    };
  });
  const last = drafts.at(-1);
  if (planned === null || last === undefined) throw new Error(`no plan of ${namedPlanText}`);
  const { stages, routing } = planned.system;
  return { stages, thresholds: routing.thresholds, judgeGpus: planned.gateGpus, predictions: last.predictions.stages };
});

const perStage = ({ stages, predictions }: NamedPlan, text: (stage: number) => string, separator = ", "): string =>
  stages.map((_, stage) => (predictions[stage] === undefined ? "-" : text(stage))).join(separator);

const gpusOfStage = ({ replicas }: SystemStage): number => replicas.reduce((sum, { shape, count }) => sum + shape.tp * shape.pp * count, 0);

/** As the source writes it: `DP2 TP4 + TP8`, degrees of 1 left out. */
const parallelism = ({ replicas }: SystemStage): string =>
  replicas
    .map(({ shape: { tp, pp }, count }) => {
      const degrees = [
        ["DP", count],
        ["TP", tp],
        ["PP", pp],
      ] as const;
      return degrees.flatMap(([name, degree]) => (degree > 1 ? [`${name}${degree}`] : [])).join(" ") || "DP1";
    })
    .join(" + ");

/** Figures of a plan by stage, in the source's form: text and unit. */
export const planFigures = {
  p95: {
    unit: "s",
    text: (plan: NamedPlan) => perStage(plan, (stage) => (plan.predictions[stage]?.p95Seconds ?? Number.NaN).toFixed(2)),
  },
  thresholds: { unit: "judged score", text: ({ thresholds }: NamedPlan) => thresholds.join(", ") },
  shares: {
    unit: "%",
    text: (plan: NamedPlan) => perStage(plan, (stage) => (100 * (plan.predictions[stage]?.share ?? Number.NaN)).toFixed(0)),
  },
  gpus: {
    unit: "GPUs",
    text: ({ stages, judgeGpus }: NamedPlan) => `${stages.map(gpusOfStage).join(", ")}; judge ${judgeGpus}`,
  },
  parallelism: { unit: "", text: ({ stages }: NamedPlan) => stages.map(parallelism).join("; ") },
} as const;

type PlanFigure = keyof typeof planFigures;

export const planFigureName = (figure: PlanFigure): string => `one plan of the race, ${figure} by stage`;

async function measured(figure: PlanFigure): Promise<Measurement> {
  const plan = await plannedCase();
  const { unit, text } = planFigures[figure];
  const models = plan.stages.map(({ model }) => model).join(", ");
  return {
    figure: Number.NaN,
    text: text(plan),
    unit,
    detail: `${namedPlanText}, seed ${SEED}: ${models} on ${namedCase().ladder.nodes * 8} x h100-sxm, the judge's engines among them, planned for the least p95`,
  };
}

/** Figures by stage of one plan of a named case; none without the data. */
export const namedPlanBenchmarks: readonly Benchmark[] = dataPresent()
  ? (["p95", "thresholds", "shares", "gpus", "parallelism"] as const).map((figure) => ({
      name: planFigureName(figure),
      budget: null,
      run: () => measured(figure),
    }))
  : [];
