import { z } from "zod";
import { machineName } from "@/solver/wording/names";

const fraction = z.number().min(0).max(1);
const score = z.number().min(0).max(100);
const seconds = z.number().nonnegative();

/** The kinds of policies that the planner may be asked for; `any`: the best of all of them on the objective. */
export const policyChoices = ["any", "cascade", "cascade-routing", "slack", "one-model"] as const;
export type PolicyChoice = (typeof policyChoices)[number];

/** Highest tau of slack dispatch that is planned. */
export const MOST_TAU = 8;

/**
 * One setting of the slack on the replicas of a plan, with its predictions. Of a cascade `value` is the fraction by which its p95 may exceed
 * that of the fastest setting here, and `thresholds` is what that slack buys; of slack dispatch it is tau.
 */
const slackStepSchema = z.object({
  value: z.number().nonnegative(),
  thresholds: z.array(z.int().min(0).max(100)).optional(),
  quality: score,
  /** At the plan's confidence. */
  qualityLow: score,
  p95Seconds: seconds,
  /** Share of the requests that reach each stage, or that each model answers. */
  share: z.array(fraction),
  /** Whether it is inside the ranges that are approved with the plan. */
  approved: z.boolean(),
});

/** The settings of the slack on a plan's replicas, ascending by `value`. */
export const slackStepsSchema = z.object({ kind: z.enum(["p95", "tau"]), steps: z.array(slackStepSchema).min(1) });

/** What a slack bought: the fastest plan at the same floor, and the p95 that the slack allowed. */
export const slackBoughtSchema = z.object({
  slack: fraction,
  limitSeconds: seconds,
  fastest: z.object({
    quality: score,
    qualityLow: score,
    p95Seconds: seconds,
    gpus: z.int().nonnegative(),
    costUsdPerRequest: z.number().nonnegative(),
  }),
});

/** The best plan of one kind of policy on the same objective and GPUs; figures are null where there is none, and `reason` says why. */
export const comparedPolicySchema = z.object({
  policy: z.enum(["cascade", "cascade-routing", "slack", "one-model"]),
  models: z.array(machineName),
  quality: score.nullable(),
  qualityLow: score.nullable(),
  p95Seconds: seconds.nullable(),
  gpus: z.int().nonnegative().nullable(),
  costUsdPerRequest: z.number().nonnegative().nullable(),
  chosen: z.boolean(),
  reason: z.string().nullable(),
});

export type SlackStep = z.infer<typeof slackStepSchema>;
export type SlackSteps = z.infer<typeof slackStepsSchema>;
export type SlackBought = z.infer<typeof slackBoughtSchema>;
export type ComparedPolicy = z.infer<typeof comparedPolicySchema>;
