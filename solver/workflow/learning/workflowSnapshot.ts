import { z } from "zod";

/** Quantiles are given at this many equal steps of probability, so there is one more value. */
export const QUANTILE_STEPS = 32;

const count = z.int().min(0);
const seconds = z.number().min(0);
/** The number of observations, and their mean. */
const mean = z.tuple([count, z.number()]);
/** The data to restore a distribution from; quantiles replace the values where there were more of these. */
const distribution = z
  .object({
    observations: count,
    state: z.enum(["empty", "learning", "converged", "drifted"]),
    values: z.array(seconds).max(QUANTILE_STEPS + 1),
    /** Quantiles of the distribution that had converged before this one, which has not; absent: none had. */
    settled: z
      .array(seconds)
      .length(QUANTILE_STEPS + 1)
      .optional(),
  })
  .refine(({ observations, values }) => observations >= values.length && (observations === 0) === (values.length === 0))
  .refine(({ observations, state }) => (observations === 0) === (state === "empty"));

const agent = z.object({
  name: z.string(),
  calls: count,
  programs: count,
  begins: count,
  ends: count,
  depth: mean,
  seconds: mean,
  outputTokens: mean,
  remainingCalls: mean,
  remaining: distribution,
  /** By model, the least recently seen first. */
  request: z.array(z.tuple([z.string(), distribution])),
});
const edge = z.object({
  from: z.string(),
  to: z.string(),
  calls: count,
  programs: count,
  parallel: count,
  joins: count,
  /** Calls by which it led back. */
  loops: count,
});
const application = z.object({
  name: z.string(),
  programs: count,
  lastSeenAgeSeconds: z.number(),
  seconds: mean,
  quietSeconds: seconds,
  /** Both: the least recently seen first. */
  agents: z.array(agent),
  edges: z.array(edge),
});
/** Statistics of all agents together at one model. */
const model = z.object({ model: z.string(), request: distribution, tokensPerSecond: distribution });

/**
 * A learner's learnt state, as JSON. Open programs are not part of it. Times are ages: the next learner's clock may be another. Lists begin
 * with the least recently seen.
 */
export const workflowSnapshotSchema = z.object({
  version: z.literal(1),
  counts: z.object({
    programs: count,
    calls: count,
    unnamedCalls: count,
    lateCalls: count,
    missingUpstream: count,
    ties: count,
    forgotten: count,
  }),
  applications: z.array(application),
  models: z.array(model),
  remaining: distribution,
  remainingCalls: mean,
  request: distribution,
});

export type KeptMean = z.infer<typeof mean>;
export type KeptDistribution = z.infer<typeof distribution>;
export type KeptAgent = z.infer<typeof agent>;
export type KeptEdge = z.infer<typeof edge>;
export type KeptApplication = z.infer<typeof application>;
export type WorkflowSnapshot = z.infer<typeof workflowSnapshotSchema>;
