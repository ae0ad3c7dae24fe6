import { z } from "zod";
import { machineName, oneLine } from "@/solver/wording/names";

const score = z.number().min(0).max(100);
const share = z.number().min(0).max(1);
const rate = z.number().positive();

/** The traffic of a mix that a plan's engines were planned for. */
export const plannedMixSchema = z.object({
  /** Requests of no declared workflow; null: only workflows. */
  singles: z.object({ requestsPerSecond: rate, qualityFloor: score }).nullable(),
  /** By name; the policy has the documents. */
  workflows: z.array(z.object({ name: oneLine, programsPerSecond: rate, qualityFloor: score })).max(16),
  /** Share of its capacity that a model is loaded with at most, by the plan. */
  loadFactor: share,
});

const classFiguresSchema = z.object({
  name: oneLine,
  /** Single requests, or programs, a second. */
  perSecond: rate,
  qualityFloor: score,
  /** Lower 90 % bound of the mean quality by the MILP, from planning prompts. */
  plannedQuality: score,
  /** null: unknown. */
  quality: score.nullable(),
  meanSeconds: z.number().nonnegative(),
  p95Seconds: z.number().nonnegative(),
  /** Number of simulated requests or programs. */
  simulated: z.int().nonnegative(),
});

const mixedModelSchema = z.object({
  model: machineName,
  /** Share of the model's capacity that the mix takes, by the MILP. */
  load: share,
  /** Percent by which all rates may rise for 1 % more of its capacity. */
  price: z.number().nonnegative(),
  /** Share of time in which its replicas had a running step, simulated. */
  busyShare: share,
});

/** Figures of a plan's own policy under its mix: simulated on programs of planning prompts, whose outcomes are modelled. */
export const mixPredictionsSchema = z.object({
  /** By how much all rates may rise together until a model is loaded with the load factor. */
  factor: z.number().nonnegative(),
  classes: z.array(classFiguresSchema).min(1),
  models: z.array(mixedModelSchema).min(1),
  /** Programs and single requests that were not completely served. */
  unserved: z.int().nonnegative(),
});

export type MixPredictions = z.infer<typeof mixPredictionsSchema>;
