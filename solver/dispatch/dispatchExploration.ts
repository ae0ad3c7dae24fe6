import type { ShapeCount } from "@/solver/cascade/tables/shapeMix";

/** Engines of a set of models between which requests are dispatched. */
export interface DispatchAllocation {
  /** Indices into `DispatchExploration.models`, smallest model first. */
  readonly models: readonly number[];
  /** Per model of `models`. */
  readonly gpus: readonly number[];
  /** Per model of `models`. */
  readonly replicas: readonly (readonly Pick<ShapeCount, "gpu" | "shape" | "count">[])[];
}

/** Slack dispatch on one allocation at one tau, simulated whole on the workload's planning prompts. */
export interface DispatchPoint {
  /** Index into `DispatchExploration.allocations`. */
  readonly allocation: number;
  readonly tau: number;
  /** Mean label of the answers, 0..100. */
  readonly quality: number;
  /** Lower confidence bound of `quality` on fresh traffic. */
  readonly qualityLow: number;
  /** End to end, at the objective's percentile. */
  readonly latencySeconds: number;
  /** The largest percentile of a model's own requests. */
  readonly largestStageSeconds: number;
  readonly gpusTotal: number;
  readonly costUsdPerRequest: number;
  /** Share of the requests that each model of the allocation answers. */
  readonly share: readonly number[];
}

/** All allocations and slacks that were simulated for one workload, rate and cluster. Plain data: it travels as JSON. */
export interface DispatchExploration {
  readonly models: readonly string[];
  readonly requestsPerSecond: number;
  readonly maxGpus: number;
  /** Where confidences come from: a trained predictor, or the mean quality that is stated for each model. */
  readonly confidence: "trained" | "stated";
  readonly qualityConfidence: number;
  readonly allocations: readonly DispatchAllocation[];
  /** Taus that were simulated, ascending. */
  readonly taus: readonly number[];
  /** Those that sustain the load, by allocation and within it by tau. */
  readonly points: readonly DispatchPoint[];
}
