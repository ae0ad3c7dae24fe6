import type { Plan } from "@/solver/plan/plan";
import { LARGE } from "./connections";

/** Figures of a plan at one rate, predicted or measured; null where they are not known: the planner refuses the load. */
export interface CascadeFigures {
  readonly mean: number | null;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  /** The band of a predicted p95, or the interval of a measured one. */
  readonly p95Low: number | null;
  readonly p95High: number | null;
  /** 0..100. */
  readonly quality: number | null;
  /** Share of the requests that the last model answers, 0..1. */
  readonly escalated: number | null;
  readonly requests: number;
  readonly failed: number;
  /** The client's 95th percentile of sending late, seconds; null for a prediction. */
  readonly lateP95: number | null;
  /** Cores that the plan's engines have; null without a plan. */
  readonly cores: number | null;
  readonly thresholds: readonly number[];
  /** Engines of the plan, by id. */
  readonly engines: readonly string[];
  /** SHA-256 of the plan; null without one. */
  readonly plan: string | null;
  /** What the planner chooses at this rate when both models may serve: a cascade, or the larger alone; null: nothing, or not asked. */
  readonly chosen: "cascade" | "alone" | null;
  /** Why the planner refuses the load; null otherwise. A measured load that was refused runs under the plan of the highest rate that has one. */
  readonly refused: string | null;
}

export const noFigures: Omit<CascadeFigures, "refused" | "chosen"> = {
  ...{ mean: null, p50: null, p95: null, p99: null, p95Low: null, p95High: null, quality: null, escalated: null },
  ...{ requests: 0, failed: 0, lateP95: null, cores: null, thresholds: [], engines: [], plan: null },
};

/** What a plan is made of, beside its figures. */
export const partsOf = ({ id, deployment, policy }: Plan & { readonly policy: { readonly kind: string } }, engines: readonly string[]) => ({
  ...{ plan: id, engines, cores: deployment.reduce((sum, { gpus }) => sum + gpus, 0) },
  thresholds: policy.kind === "cascade" ? policy.thresholds : [],
});

/** Share of the last model in a plan's predictions. */
export const escalatedOf = ({ predictions }: Plan): number => predictions.stages.find(({ model }) => model === LARGE)?.share ?? 0;
