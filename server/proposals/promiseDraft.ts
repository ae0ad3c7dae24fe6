import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { PlanPromise } from "@/server/contracts/studio/promise";
import type { Plan } from "@/solver/plan/plan";
import type { MeasuredFigure } from "@/solver/workload/driftIntervals";
import type { Enough, Promised } from "@/solver/workload/driftVerdict";
import type { PromiseWindow } from "../clusters/watch/promiseWindow";

/**
 * Requests before a figure is judged. A percentile counts as kept with five in the tail of a p95; its interval, between order statistics,
 * is valid from few requests on. Intervals of means and shares need more. Failures are counted, so few requests suffice.
 */
export const ENOUGH = { percentile: { broken: 10, kept: 100 }, mean: { broken: 50, kept: 50 }, failures: { broken: 3, kept: 50 } } as const;

export interface Measuring {
  readonly plan: Plan;
  readonly window: PromiseWindow;
  /** Scores with which the plan was to accept answers of stages that have a gate. */
  readonly acceptedScores: readonly number[];
  /** Quality label of an answer; null if unknown. */
  readonly labelOf: (decision: Decision) => number | null;
  /** For the GPUs that engines hold now; null if that or a price is not known. */
  readonly usdPerHour: number | null;
  /** Why no comparison is possible; null if it is. */
  readonly notComparable: string | null;
}

/** A promise and what was measured of it, before the verdict. */
export type PromiseDraft = Pick<PlanPromise, "quantity" | "kind" | "promised"> & {
  /** Of a stage alone. */
  readonly model?: string;
  /** Of a class of a mix alone, by its name. */
  readonly className?: string;
  readonly band: Promised;
  readonly measured: MeasuredFigure | null;
  readonly enough: Enough;
  readonly basis: string;
  /** Why a figure beyond its band breaks no promise; absent if it does. */
  readonly excused?: string;
  /** The count, in words, if the figure is counted and not estimated from a sample. */
  readonly counted?: string;
};
