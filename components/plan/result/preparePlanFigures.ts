import {
  ABSENT,
  formatCounted,
  formatFineRate,
  formatPercent,
  formatScore,
  formatScoreBound,
  formatScoreSpan,
  formatSeconds,
  formatSecondsSpan,
  formatUsd,
} from "@/components/ui/format";
import { type Band, limitName, type Plan } from "@/solver/plan/plan";
import type { PlanEstimate } from "../planning/recommend";
import { type Doubt, extrapolated, nearSaturation } from "./prepareStages";

export interface PlanFigure {
  readonly key: "rate" | "quality" | "p95" | "cost" | "utilisation" | "gpus" | "solved";
  readonly name: string;
  readonly value: string;
  readonly detail: string;
  /** A second line. */
  readonly more?: string;
  /** Why the figure is less reliable than the others; left out where it is not. */
  readonly doubt?: Doubt | null;
}

/** What the solver proved: the allocation is optimal for given thresholds, which are searched, not proven. */
function solvedDetail({ status, gap, evaluatedThresholds }: Plan["solver"]): string {
  const feasible = `allocation feasible, gap ${gap === null ? "unknown" : formatPercent(gap)}`;
  const allocation = status === "optimal" ? "allocation optimal for these thresholds" : feasible;
  return `${allocation}; ${formatCounted(evaluatedThresholds, "setting")} searched`;
}

/** Two-sided: the range over other samples of this size. */
const intervalText = (interval: Band): string => `${formatScoreSpan(interval)} in ${formatPercent(interval.confidence)} of samples`;

/** The strip of a plan's figures, each with its possible error. */
export function exactFigures(plan: Pick<Plan, "predictions" | "solver" | "inputs" | "deployment">): readonly PlanFigure[] {
  const { predictions, solver, inputs } = plan;
  const gpus = plan.deployment.reduce((sum, model) => sum + model.gpus, 0);
  const { qualityBand, qualityInterval, p95Band } = predictions;
  return [
    ...(inputs.rateChoice === undefined
      ? []
      : [
          {
            key: "rate" as const,
            name: "Highest rate",
            value: formatFineRate(inputs.workload.requestsPerSecond),
            detail: refusedAt(solver.highestRate?.refused ?? null),
          },
        ]),
    {
      key: "quality",
      name: "Quality",
      value: formatScore(predictions.quality),
      detail: `at least ${formatScoreBound(qualityBand.low)} at ${formatPercent(qualityBand.confidence)}`,
      ...(qualityInterval === undefined ? {} : { more: intervalText(qualityInterval) }),
    },
    {
      key: "p95",
      name: "p95 latency",
      value: formatSeconds(predictions.p95Seconds),
      detail: `${formatSecondsSpan(p95Band)} at ${formatPercent(p95Band.confidence)}`,
      doubt: extrapolated(predictions.stages),
    },
    {
      key: "cost",
      name: "Cost per request",
      value: formatUsd(predictions.costUsdPerRequest),
      detail: `${formatUsd(predictions.costUsdPerHour)} an hour`,
    },
    {
      key: "utilisation",
      name: "Utilisation",
      value: formatPercent(predictions.utilisation),
      detail: busiestText(predictions),
      doubt: nearSaturation(predictions.stages),
    },
    { key: "gpus", name: "GPUs", value: String(gpus), detail: `of ${inputs.objective.maxGpus} allowed` },
    { key: "solved", name: "Solved in", value: formatSeconds(solver.seconds), detail: solvedDetail(solver) },
  ];
}

/** The next rate above a highest rate, and the kind of limit that refuses it. */
const refusedAt = (refused: NonNullable<Plan["solver"]["highestRate"]>["refused"]): string =>
  refused === null ? "no higher rate was tried" : `${formatFineRate(refused.requestsPerSecond)} is stopped by ${limitName(refused.kind)}`;

function busiestText({ stages, judge }: Plan["predictions"]): string {
  const busiest = Math.max(...stages.map((stage) => stage.utilisation));
  if (judge === undefined || judge.utilisation <= busiest) return `busiest stage ${formatPercent(busiest)}`;
  return `busiest is the judge, ${formatPercent(judge.utilisation)}`;
}

/** The basis of the strip's figures and bands, for the line below it. */
export function assumptions({ predictions, inputs }: Pick<Plan, "predictions" | "inputs">): string {
  const { engineProfile } = inputs;
  const profile = engineProfile === undefined ? "" : `Engine profile: ${engineProfile.name}. `;
  return `${profile}p95 band: ${predictions.p95Band.basis}. Quality band: ${predictions.qualityBand.basis}.`;
}

/**
 * The figures from the tables alone, until the exact plan arrives.
 *
 * @param mixed whether the cluster has several GPU types: the tables count GPUs in its own mix of them.
 */
export function estimatedFigures(candidate: PlanEstimate, maxGpus: number, mixed: boolean): readonly PlanFigure[] {
  const estimate = mixed ? "estimate, in GPUs of average price" : "estimate";
  const unstable = candidate.latencySeconds === Number.POSITIVE_INFINITY;
  return [
    {
      key: "quality",
      name: "Quality",
      value: formatScore(candidate.quality),
      detail: `at least ${formatScoreBound(candidate.qualityLow)}, estimate`,
    },
    unstable
      ? { key: "p95", name: "p95 latency", value: "unstable", detail: `${maxGpus} GPUs are overloaded` }
      : { key: "p95", name: "p95 latency", value: formatSeconds(candidate.latencySeconds), detail: "estimate from the tables" },
    { key: "cost", name: "Cost per request", value: unstable ? ABSENT : formatUsd(candidate.costUsdPerRequest), detail: estimate },
    { key: "utilisation", name: "Utilisation", value: ABSENT, detail: "with the exact plan" },
    { key: "gpus", name: "GPUs", value: unstable ? ABSENT : String(candidate.gpusTotal), detail: `of ${maxGpus} allowed, ${estimate}` },
    { key: "solved", name: "Solved in", value: ABSENT, detail: "not solved yet" },
  ];
}

/**
 * Which rate the estimates of the tables are at.
 *
 * @param found the plan of the last search; null: there is none yet.
 */
export function estimateRateText(requestsPerSecond: number, found: Pick<Plan, "inputs"> | null): string {
  const isFound = found?.inputs.workload.requestsPerSecond === requestsPerSecond;
  const of = isFound ? "the highest rate for the earlier settings" : "the first rate of the search";
  return `The estimate is at ${formatFineRate(requestsPerSecond)}, ${of}. The search gives the exact plan.`;
}
