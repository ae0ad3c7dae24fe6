import { z } from "zod";
import { machineName, oneLine } from "@/solver/wording/names";
import { policySchema } from "../plan/policySchema";

/** Engines of one shape that serve a model in a run. */
export const labReplicasSchema = z.strictObject({
  model: machineName,
  gpu: machineName,
  precision: z.enum(["bf16", "fp8", "int4"]),
  tp: z.int().min(1).max(64),
  pp: z.int().min(1).max(64),
  count: z.int().min(1).max(256),
  /** Maximum number of sequences one engine runs at once, its `max-num-seqs`; left out: vLLM's default. */
  maxSequences: z.int().min(1).max(4096).optional(),
});

/**
 * The source of a system's predictions of requests: the truth (an oracle), predictors trained for the run on prompts that it does not
 * serve, a trained artefact by its hash, or nothing. `input`: lengths are estimated by input tokens alone.
 */
const learntFrom = z.union([z.enum(["none", "oracle", "learnt"]), z.strictObject({ artefact: z.string().regex(/^[0-9a-f]{64}$/) })]);

/** One policy to measure. */
export const labSystemSchema = z.strictObject({
  /** Systems of one name are points of one frontier: the same policy at several slacks. */
  name: oneLine.min(1).max(80),
  policy: policySchema,
  lengths: z.union([learntFrom, z.literal("input")]),
  confidence: learntFrom,
  /**
   * Accurate configurations of programs, for policies that choose among them; `named`: from the predictors that the policy names. Left out:
   * none.
   */
  configurations: z.enum(["none", "oracle", "learnt", "named"]).optional(),
  /** Stages that may be skipped where the answers they read agree are always called; left out: they are skipped there. */
  gates: z.literal("never").optional(),
  /** Its own engines instead of the run's, as of a saved plan. */
  replicas: z.array(labReplicasSchema).min(1).max(64).optional(),
});

/**
 * The description of a run. On the same cards, engine profile, texts of prompts and release the same description gives the same figures.
 * Unknown fields are refused: a misspelt one would describe another race than intended.
 */
export const labSpecSchema = z.strictObject({
  workloadId: z.string().min(1),
  /** Workflows by name, and their shares of the programs, normalised by their sum. */
  mix: z
    .array(z.strictObject({ workflow: z.string().min(1), share: z.number().positive().max(1) }))
    .min(1)
    .max(16),
  /** Similarity of a program's stages in length and success: their correlation, 0..1, from having one prompt. */
  correlation: z.number().min(0).max(1),
  /** Probability that a wrong answer of an agent that helps misleads one that reads it; left out: helping answers change nothing. */
  misleads: z.number().min(0).max(1).optional(),
  /** Number of programs of each rate and seed. */
  programs: z.int().min(20).max(100_000),
  arrivals: z.enum(["poisson", "workload"]),
  replicas: z.array(labReplicasSchema).min(1).max(64),
  usdPerGpuHour: z.number().nonnegative(),
  /** Id of the engine profile for step times; left out: the built-in one of vLLM. */
  engineProfile: z.string().min(1).optional(),
  /**
   * `centre`: the policy's queue holds requests back until an engine's batch has room. `engines`: each engine queues by the policy's key.
   */
  queue: z.enum(["centre", "engines"]),
  /**
   * For queues in engines: steps passed over after which a request goes ahead, and steps of service after which it no longer counts as
   * ahead.
   */
  aging: z.strictObject({ starvedSteps: z.int().min(1), quantumSteps: z.int().min(1) }).nullable(),
  /** Seconds between readings of the engines' telemetry; 0: it is always fresh. */
  telemetrySeconds: z.number().min(0).max(60),
  /** Delay of a request by routing, predicting and deciding each, in seconds. */
  overhead: z.strictObject({
    routeSeconds: z.number().min(0).max(5),
    predictSeconds: z.number().min(0).max(5),
    decideSeconds: z.number().min(0).max(5),
  }),
  /**
   * Engines deviate from their profile by factors drawn by the seed, as much as real ones do: policies know the profile only. Left out: they
   * are as modelled.
   */
  enginesDeviate: z.literal(true).optional(),
  /**
   * What prompts are modelled to share, and engines to keep in their prefix caches: the instructions of each agent, or these and the
   * history that an agent's later calls in a program continue. Left out: nothing, and engines keep no prefixes.
   */
  sharedPrefixes: z.enum(["instructions", "conversations"]).optional(),
  /** Programs a second; the minimum is one in some hours, with which no engine has two at once. */
  rates: z.array(z.number().min(1e-4).max(10_000)).min(1).max(12),
  seeds: z.array(z.int().min(0).max(1_000_000)).min(1).max(20),
  systems: z.array(labSystemSchema).min(1).max(40),
});
export type LabSpec = z.infer<typeof labSpecSchema>;
export type LabSystem = z.infer<typeof labSystemSchema>;
export type LabReplicas = z.infer<typeof labReplicasSchema>;
