import { formatCounted, formatDelta, formatUsd } from "@/components/ui/format";
import type { Knobs } from "@/solver/cascade/explore/exploration";
import type { Plan } from "@/solver/plan/plan";

/** A plan's figures as a slack compares them. */
export interface SlackFigures {
  /** The bound or the mean, whichever the floor applies to. */
  readonly quality: number;
  readonly latencySeconds: number;
  readonly gpusTotal: number;
  readonly costUsdPerRequest: number;
}

/** What a slack buys: differences of the chosen plan from the fastest at the same floor. */
export type SlackEffect =
  /** The objective takes the highest quality within a budget: there is no fastest plan to compare with. */
  | { readonly kind: "without-meaning" }
  | { readonly kind: "off"; readonly objective: Knobs["kind"] }
  /** No plan meets the objective, or the tables are not there yet. */
  | { readonly kind: "unknown" }
  | { readonly kind: "nothing" }
  | {
      readonly kind: "buys";
      /** Fraction of the fastest plan's p95. */
      readonly p95: number;
      readonly points: number;
      readonly gpus: number;
      readonly usdPerRequest: number;
    };

/** Differences below these are not shown, and count as none. */
const LEAST = { points: 0.05, usdShare: 0.005 } as const;

/**
 * Decides what a slack buys.
 *
 * @param bought the chosen plan and the fastest one by the tables; null where there is none.
 */
export function slackEffect(
  { kind, slack }: Pick<Knobs, "kind" | "slack">,
  bought: { readonly chosen: SlackFigures; readonly fastest: SlackFigures } | null,
): SlackEffect {
  if (kind === "quality-under-latency") return { kind: "without-meaning" };
  if (slack === undefined) return { kind: "off", objective: kind };
  if (bought === null) return { kind: "unknown" };
  const { chosen, fastest } = bought;
  const effect = {
    p95: chosen.latencySeconds / fastest.latencySeconds - 1,
    points: chosen.quality - fastest.quality,
    gpus: chosen.gpusTotal - fastest.gpusTotal,
    usdPerRequest: chosen.costUsdPerRequest - fastest.costUsdPerRequest,
  };
  const changes =
    effect.gpus !== 0 ||
    Math.abs(effect.points) >= LEAST.points ||
    Math.abs(effect.usdPerRequest) >= LEAST.usdShare * fastest.costUsdPerRequest;
  return changes ? { kind: "buys", ...effect } : { kind: "nothing" };
}

/** A plan and the fastest one that its slack counts from, by the value that the floor applies to; null where it was planned without a slack. */
export function boughtByPlan({
  predictions,
  deployment,
  solver,
  inputs: { objective },
}: Pick<Plan, "predictions" | "deployment" | "solver" | "inputs">): {
  readonly chosen: SlackFigures;
  readonly fastest: SlackFigures;
} | null {
  if (solver.slack === undefined) return null;
  const { fastest } = solver.slack;
  const isBound = objective.qualityConfidence !== null;
  return {
    chosen: {
      quality: isBound ? predictions.qualityBand.low : predictions.quality,
      latencySeconds: objective.latency === "end-to-end" ? predictions.p95Seconds : predictions.largestStageP95Seconds,
      gpusTotal: deployment.reduce((sum, { gpus }) => sum + gpus, 0),
      costUsdPerRequest: predictions.costUsdPerRequest,
    },
    fastest: {
      quality: isBound ? fastest.qualityLow : fastest.quality,
      latencySeconds: fastest.p95Seconds,
      gpusTotal: fastest.gpus,
      costUsdPerRequest: fastest.costUsdPerRequest,
    },
  };
}

/** The effect in a line, as in `+18 % p95 → +1.6 points, −4 GPUs`. */
export function slackSentence(effect: SlackEffect, kind: Knobs["kind"]): string {
  switch (effect.kind) {
    case "without-meaning":
      return "Without effect with this objective: the highest quality is taken up to the latency budget.";
    case "off":
      return effect.objective === "cost-under-both" ? "Off: only the latency budget limits p95." : "Off: the fastest plan at this floor.";
    case "unknown":
      return "Shows what it buys once a plan meets floor and budget.";
    case "nothing":
      return "Nothing more to buy: the fastest plan at this floor stays the best.";
    case "buys": {
      const { p95, points, gpus, usdPerRequest } = effect;
      const gained = [
        ...(kind === "latency-under-quality" || Math.abs(points) >= LEAST.points ? [`${formatDelta(points, 1)} points`] : []),
        ...(gpus === 0 ? [] : [`${gpus > 0 ? "+" : "−"}${formatCounted(Math.abs(gpus), "GPU")}`]),
        ...(kind === "cost-under-both" && usdPerRequest !== 0
          ? [`${usdPerRequest > 0 ? "+" : "−"}${formatUsd(Math.abs(usdPerRequest))} per request`]
          : []),
      ];
      return `${formatDelta(100 * p95, 0)}\u00a0% p95 → ${gained.join(", ")}`;
    }
  }
}
