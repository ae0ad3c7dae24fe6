import { z } from "zod";
import { userCardsSchema } from "@/solver/hardware/cardSchema";
import { engineProfileSchema } from "@/solver/hardware/engineProfile";
import { judgeTimeSourceSchema } from "@/solver/judging/judgeTime";
import { planConstraintsSchema } from "@/solver/plan/constraints";
import { machineName, oneLine, title } from "@/solver/wording/names";
import type { cascadePolicySchema } from "./cascadePolicy";
import { clusterSpecSchema, placementSchema, runningReplicaSchema } from "./clusterSpec";
import { startRouterSchema } from "./directStart";
import { noPlanKinds } from "./noPlanKind";
import { comparedGateSchema, plannedGateKinds } from "./planGates";
import { mixPredictionsSchema, plannedMixSchema } from "./planMix";
import { comparedPolicySchema, policyChoices, slackBoughtSchema, slackStepsSchema } from "./planSlack";
import { policySchema, type SlackPolicy } from "./policySchema";

export { limitName, type NoPlanKind } from "./noPlanKind";
export type { MixPredictions } from "./planMix";

/** A share, a probability or a utilisation. */
const fraction = z.number().min(0).max(1);

const score = z.number().min(0).max(100);

const seconds = z.number().nonnegative();

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** The interval of a prediction: the value is in [low, high] at the stated confidence. */
const bandSchema = z.object({ low: z.number(), high: z.number(), confidence: fraction, basis: z.string() });

/** Only the ends; confidence and basis are stated elsewhere. */
const spanSchema = bandSchema.pick({ low: true, high: true });

/** `count` replicas of one shape. Each has tp x pp GPUs and one entry of `placements` (its list of nodes and GPUs). */
const replicaGroupSchema = z.object({
  /** GPU type, if different from the model's: a model may run on several types. */
  gpu: machineName.optional(),
  tp: z.int().positive(),
  pp: z.int().positive(),
  count: z.int().positive(),
  /** Share of the model's requests that each single replica of this group serves; groups' shares x counts sum to 1. */
  shareEach: fraction,
  /** Maximum number of requests that each of them holds at once; left out: as many as an engine runs. */
  maxInFlight: z.int().positive().optional(),
  placements: z.array(z.array(placementSchema).min(1)),
});

/** The deployment of one model: the topology half of a plan is a list of these. */
const modelDeploymentSchema = z.object({
  model: machineName,
  precision: z.enum(["bf16", "fp8", "int4"]),
  gpu: machineName,
  gpus: z.int().positive(),
  replicas: z.array(replicaGroupSchema).min(1),
});

/** The operator's objective. The floor applies to the lower bound of quality at `qualityConfidence` unless that is null (point value). */
export const objectiveSchema = z.object({
  kind: z.enum(["latency-under-quality", "quality-under-latency", "cost-under-both"]),
  /** `end-to-end` sums the stages a request visits, judge included; `largest-stage` is the source's max of stage p95s. */
  latency: z.enum(["end-to-end", "largest-stage"]),
  percentile: z.number().gt(0).lt(100),
  qualityFloor: score.nullable(),
  qualityConfidence: fraction.nullable(),
  latencyBudgetSeconds: z.number().positive().nullable(),
  /**
   * Fraction by which the p95 may exceed that of the fastest plan at the floor, for a higher quality or, for the lowest cost, fewer GPUs;
   * the budget still caps it. Left out: none, and the lowest cost has no such limit.
   */
  slack: fraction.optional(),
  maxGpus: z.int().positive(),
});

/** All inputs, so that a plan can be reproduced. */
const planInputsSchema = z.object({
  workload: z.object({
    /** Hash of its content. */
    id: oneLine,
    name: oneLine,
    /** Its version in the studio that made the plan; left out on the command line, and in older plans. */
    version: z.int().positive().optional(),
    requestsPerSecond: z.number().positive(),
    planningPrompts: z.int().positive(),
    sampleRequests: z.int().positive(),
    seed: z.int(),
    judge: z.object({ kind: z.enum(["measured", "modelled"]), auc: fraction.nullable() }),
    /** Whether hosted models were planned with, as its data may leave the house; left out: no. */
    dataMayLeave: z.literal(true).optional(),
  }),
  cluster: clusterSpecSchema,
  models: z.array(machineName).min(1),
  /** Those of the models and GPUs above without shipped cards, as they were; left out where all have one. */
  userCards: userCardsSchema.optional(),
  /**
   * The assumed costs of the engines' own work, complete: built-in profiles are refitted. Left out in older plans, made before profiles.
   */
  engineProfile: engineProfileSchema.optional(),
  objective: objectiveSchema,
  /** `highest`: the rate was searched for, the highest that keeps the objective; left out: it was given, and in older plans. */
  rateChoice: z.literal("highest").optional(),
  /** The kinds of policies that were compared; left out: cascades. */
  policyChoice: z.enum(policyChoices).optional(),
  /** The gate that was asked for; left out: any, and in older plans. */
  gateChoice: z.enum(plannedGateKinds).optional(),
  /** Left out: none. */
  constraints: planConstraintsSchema.optional(),
  /** The judge if it was planned as a separate engine, whether or not anything is judged; left out: one outside the deployment. */
  judgeEngine: z.object({ model: machineName, rubricTokens: z.int().nonnegative(), outputTokens: z.int().positive() }).optional(),
  /** The origin of the time of a judge outside of the deployment; left out in older plans, and where the judge is an engine. */
  judgeTime: judgeTimeSourceSchema.optional(),
  /** If requests were allowed to start at a later stage, whether or not any do; left out: all had to start at the first. */
  directStart: startRouterSchema.optional(),
  /** Left out: nothing ran, or few changes were not requested. */
  running: z.array(runningReplicaSchema).optional(),
  /** The mix of single requests and workflows that the engines were planned for; left out: single requests alone, and in older plans. */
  mix: plannedMixSchema.optional(),
});

const stagePredictionSchema = z.object({
  model: machineName,
  /** Share of all requests that reach this stage (the source's processing ratio p_i). */
  share: fraction,
  /** Share of all requests that start here, in a plan with a direct start; left out: all start at the first stage. */
  startShare: fraction.optional(),
  /** Interval of the share, from the size of the sample; left out in older plans. */
  shareBand: spanSchema.optional(),
  requestsPerSecond: z.number().nonnegative(),
  p95Seconds: seconds,
  meanSeconds: seconds,
  ttftP95Seconds: seconds,
  /** Intervals of the three latencies, computed like `p95Band`; left out where there was hardly a simulated request, and in older plans. */
  bands: z.object({ p95Seconds: spanSchema, meanSeconds: spanSchema, ttftP95Seconds: spanSchema }).optional(),
  /** Requests per second over the rate at which the stage's replicas saturate, 0..1. */
  utilisation: fraction,
  /** The meaning of the utilisation, including the profile's error. No plan has an unstable stage: such plans are refused. */
  stability: z.enum(["stable", "near-saturation"]).optional(),
  /** In which respects the stage is outside the data that its step times were fitted to. */
  extrapolated: z.array(z.string()).optional(),
});

/** The judge's own engines, where the plan deploys them. */
const judgePredictionSchema = z.object({
  /** Number of judgements. */
  requestsPerSecond: z.number().nonnegative(),
  /** Queueing included, simulated whole. */
  meanSeconds: seconds,
  /** By the tables. */
  p95Seconds: seconds,
  utilisation: fraction,
  stability: z.enum(["stable", "near-saturation"]),
});

/** A model that answers for gates alone, with the number of its answers. */
const peerPredictionSchema = judgePredictionSchema.omit({ meanSeconds: true }).extend({ model: machineName });

/** A stage that a provider hosts: it takes no GPUs, and money by token, which is in the plan's cost. */
const hostedPredictionSchema = z.object({
  model: machineName,
  /** Share of all requests that leave the house for it. */
  share: fraction,
  requestsPerSecond: z.number().nonnegative(),
  usdPerHour: z.number().nonnegative(),
});

/** A plan's figures under a judge of another reliability. */
const judgeOutlookSchema = z.object({
  /** Probability that the judge scores a right answer above a wrong one. */
  auc: fraction,
  quality: score,
  share: z.array(fraction).min(1),
  /** Requests per second over the saturation rate at the busiest stage; above 1 it is overloaded. */
  busiestLoad: z.number().nonnegative(),
});

const predictionsSchema = z.object({
  quality: score,
  qualityBand: bandSchema,
  /** Two-sided, of this one routing on another sample of the same size; left out in older plans. */
  qualityInterval: bandSchema.optional(),
  p95Seconds: seconds,
  p95Band: bandSchema,
  meanSeconds: seconds,
  /** The largest stage p95, the source's L. */
  largestStageP95Seconds: seconds,
  costUsdPerRequest: z.number().nonnegative(),
  costUsdPerHour: z.number().nonnegative(),
  utilisation: fraction,
  stages: z.array(stagePredictionSchema).min(1),
  /** Left out where no stage is hosted. */
  hosted: z.array(hostedPredictionSchema).min(1).optional(),
  /** Left out where no engine of the plan judges, and in older plans. */
  judge: judgePredictionSchema.optional(),
  /** Left out where no gate compares with other models' answers, and in older plans. */
  gatePeers: z.array(peerPredictionSchema).optional(),
  /** Relative difference of the tables' p95 from the whole simulation of this plan. */
  tableError: z.number(),
  /** The same thresholds on the same GPUs under judges of other reliability; empty where nothing is judged or scores were measured. */
  judgeOutlooks: z.array(judgeOutlookSchema),
  /** What other slacks give on the same replicas; left out where nothing can be set, and in older plans. */
  slack: slackStepsSchema.optional(),
  /** By class of a mix; left out where none was planned for. */
  mix: mixPredictionsSchema.optional(),
  /** Sentences an operator should read before trusting the figures (modelled judge, near saturation, unvalidated p95 ...). */
  notes: z.array(z.string()),
});

/** Another cascade that the planner considered, and in a sentence why it was not chosen. */
const alternativeSchema = z.object({
  stages: z.array(machineName).min(1),
  thresholds: z.array(z.int()),
  /** Router score from which a request starts at a stage, of all stages but the last or of each; left out: all start at the first. */
  startBelow: z.union([z.int().min(1).max(100), z.array(z.int().min(0).max(100))]).optional(),
  quality: score,
  p95Seconds: seconds.nullable(),
  gpus: z.int().nonnegative(),
  reason: z.string(),
});

/** The result of the source's alternation between deployment and routing (Cascadia, algorithm 1). */
const alternationSchema = z.object({
  iterations: z.int().nonnegative(),
  /** null: it found nothing within floor and budget. */
  found: z.object({ stages: z.array(machineName), thresholds: z.array(z.int()), latencySeconds: seconds, quality: score }).nullable(),
  /** The way that the plan came from; `same`: both found it. */
  kept: z.enum(["direct", "alternation", "same"]),
  /** Alternation minus direct search; null unless both found something. */
  difference: z.object({ latencySeconds: z.number(), quality: z.number() }).nullable(),
});

/** What the search for the highest rate found above the plan's own rate. */
const highestRateSchema = z.object({
  /** The rate that was planned first. */
  firstRequestsPerSecond: z.number().positive(),
  /** The lowest rate above the plan's own that has no plan, and why; null: every higher rate that was tried has one. */
  refused: z.object({ requestsPerSecond: z.number().positive(), kind: z.enum(noPlanKinds), reason: z.string() }).nullable(),
});

/**
 * How a plan was found. `status` and `gap` are those of the allocation of GPUs, for the chosen thresholds on their latency tables:
 * `optimal` when the MILP confirmed it, `feasible` when it ran out of time. Thresholds are searched; there is no proof that no better ones
 * exist.
 */
const solverSchema = z.object({
  status: z.enum(["optimal", "feasible"]),
  /** Relative distance to the MILP's bound; null when it ran out of time without a bound. */
  gap: z.number().nonnegative().nullable(),
  seconds: z.number().nonnegative(),
  engine: z.string(),
  evaluatedThresholds: z.int().nonnegative(),
  replicaSimulations: z.int().nonnegative(),
  /** The binding limits of the answer and the cascades not chosen, in sentences. */
  why: z.array(z.string()),
  /** Why each model's replicas have their shape and not another, a sentence each; left out in older plans. */
  shapes: z.array(z.object({ model: machineName, says: z.string() })).optional(),
  /**
   * The source's alternation compared with the direct search, by the same tables; left out for the lowest cost, under constraints on
   * replicas, on several GPU types, for a judge as an engine, for a routing set by hand, and in older plans.
   */
  alternation: alternationSchema.optional(),
  /** Left out where the rate was given. */
  highestRate: highestRateSchema.optional(),
  /** Left out where no slack was asked for. */
  slack: slackBoughtSchema.optional(),
  /** The best plan of each kind of policy that was compared; left out where only cascades were. */
  policies: z.array(comparedPolicySchema).optional(),
  /** The best plan with each kind of gate that was compared; left out where only one was. */
  comparedGates: z.array(comparedGateSchema).optional(),
  alternatives: z.array(alternativeSchema),
});

/**
 * The plan: one immutable document. `deployment` (topology) and `policy` have their own hashes; `id` is the SHA-256 of
 * the canonical form of both, of `inputs`, of `predictions` and of `solver` without the effort of solving, so two plans with the same id
 * answer the same question with the same figures, independent of their name and date.
 */
export const planSchema = z.object({
  apiVersion: z.literal("weir/v1"),
  kind: z.literal("Plan"),
  /** The rule of its id; left out in plans that were sealed while ids covered only cluster, deployment and policy. */
  rule: z.literal(2).optional(),
  id: sha256,
  topologyHash: sha256,
  policyHash: sha256,
  metadata: z.object({ name: title, createdAt: z.iso.datetime() }),
  deployment: z.array(modelDeploymentSchema).min(1),
  policy: policySchema,
  inputs: planInputsSchema,
  predictions: predictionsSchema,
  solver: solverSchema,
});

export type Band = z.infer<typeof bandSchema>;

export type CascadePolicy = z.infer<typeof cascadePolicySchema>;

export type ModelDeployment = z.infer<typeof modelDeploymentSchema>;

export type Objective = z.infer<typeof objectiveSchema>;

export type JudgeOutlook = z.infer<typeof judgeOutlookSchema>;

export type AlternationReport = z.infer<typeof alternationSchema>;

export type StagePrediction = z.infer<typeof stagePredictionSchema>;

export type Predictions = z.infer<typeof predictionsSchema>;

export type Alternative = z.infer<typeof alternativeSchema>;

export type SolverReport = z.infer<typeof solverSchema>;

export type Plan = z.infer<typeof planSchema>;

/** A plan before it is sealed with its hashes and its date, which need SHA-256 and a clock. */
export type UnsealedPlan = Omit<Plan, "rule" | "id" | "topologyHash" | "policyHash" | "metadata"> & { metadata: { name: string } };

/** A planned cascade, which may be one model alone. */
export type PlanDraft = UnsealedPlan & { policy: CascadePolicy };

/** A planned slack dispatch. Plans with other policies are made from one of these, or written by hand and imported. */
export type DispatchDraft = UnsealedPlan & { policy: SlackPolicy };
