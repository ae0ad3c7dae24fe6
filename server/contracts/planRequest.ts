import { z } from "zod";
import { JUDGE_SECONDS_BOUNDS } from "@/solver/judging/judgeTime";
import { planConstraintsSchema } from "@/solver/plan/constraints";
import { predictorHash } from "@/solver/plan/directStart";
import { objectiveSchema } from "@/solver/plan/plan";
import { gateChoices } from "@/solver/plan/planGates";
import { MOST_TAU, policyChoices } from "@/solver/plan/planSlack";
import { examinedKinds } from "./studio/examination";

/** Bounds of a judge call's mean seconds, as an operator enters them. */
const { min: leastSeconds, max: mostSeconds } = JUDGE_SECONDS_BOUNDS;
export const judgeSeconds = z
  .number("give the seconds of a call")
  .min(leastSeconds, `give ${leastSeconds} s or more`)
  .max(mostSeconds, `give at most ${mostSeconds} s`);

/** Highest rate that can be planned for. */
export const MOST_REQUESTS_PER_SECOND = 100_000;

/** The planning input, named by ids of the store: the part that all requests for plans share. */
const planRequestSchema = z.object({
  workloadId: z.string().min(1),
  clusterId: z.string().min(1),
  requestsPerSecond: z.number().positive("give a rate above 0").max(MOST_REQUESTS_PER_SECOND, "give at most 100,000 requests/s"),
  constraints: planConstraintsSchema.optional(),
  /** A judge on its own engine, or the cluster's own with another mean time of a call; absent: the cluster's own with its known time. */
  judge: z
    .discriminatedUnion("kind", [
      z.object({
        kind: z.literal("engine"),
        model: z.string().min(1),
        rubricTokens: z.int().min(0).max(100_000),
        outputTokens: z.int().min(1).max(10_000),
      }),
      z.object({ kind: z.literal("fixed"), secondsPerCall: judgeSeconds }),
    ])
    .optional(),
  /**
   * The router that may start requests at a later stage: modelled with an AUC, an upper bound, or a trained predictor of the workload, by
   * its hash or the newest. Absent: all start at the first.
   */
  directStart: z
    .union([z.object({ auc: z.number().min(0.5).max(1) }), z.object({ predictor: z.union([z.literal("newest"), predictorHash]) })])
    .optional(),
});

const routingSchema = z.object({
  models: z.array(z.string()).min(1),
  thresholds: z.array(z.int().min(0).max(100)),
  startBelow: z.union([z.int().min(0).max(100), z.array(z.int().min(0).max(100)).max(16).readonly()]).optional(),
});

/** `around`: a routing that an operator set manually, explored with all that differ from it in one threshold; absent: all cascades. */
export const exploreSchema = planRequestSchema.extend({
  around: routingSchema.nullable().optional(),
  /** The gate whose scores route; absent, or any: the judge. */
  gateChoice: z.enum(gateChoices).optional(),
});

const planAtRateSchema = planRequestSchema.extend({
  objective: objectiveSchema,
  /** A routing that an operator set manually; null lets the planner choose. */
  fixed: routingSchema.nullable(),
  /** The kinds of policies to choose from; absent: cascades. */
  policy: z.enum(policyChoices).optional(),
  /** The gates of cascades to choose from; absent: all that the workload's columns allow, or with a routing set by hand the judge. */
  gateChoice: z.enum(gateChoices).optional(),
  /** The tau of slack dispatch; absent: the planner chooses it. */
  tau: z.number().min(0).max(MOST_TAU).optional(),
});

/** A plan at a rate, or for the highest rate that keeps floor and budget. */
export const solveSchema = planAtRateSchema
  .extend({
    /** `highest`: the highest rate that keeps the objective is searched for, and `requestsPerSecond` is tried first; absent: it is given. */
    rateChoice: z.literal("highest").optional(),
  })
  .refine(
    ({ rateChoice, objective }) => rateChoice === undefined || objective.latencyBudgetSeconds !== null,
    "the highest rate is the one at which a latency budget is just kept: give latencyBudgetSeconds",
  )
  .refine(
    ({ rateChoice, objective }) => rateChoice === undefined || objective.kind !== "cost-under-both",
    "the highest rate has no room for the lowest cost: ask for the lowest latency or the highest quality",
  );

/** Slack dispatch over its tau on this workload and cluster: the latency-quality frontier of the policy. */
export const dispatchSchema = planRequestSchema;

export const examineSchema = planAtRateSchema.extend({ examine: z.enum(examinedKinds) });

export type PlanRequest = z.infer<typeof planRequestSchema>;
export type ExploreRequest = z.infer<typeof exploreSchema>;
export type DispatchRequest = z.infer<typeof dispatchSchema>;
export type SolveRequest = z.infer<typeof solveSchema>;
export type ExamineRequest = z.infer<typeof examineSchema>;
