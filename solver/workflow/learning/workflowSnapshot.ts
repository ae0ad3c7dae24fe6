import { z } from "zod";
import type { KeptApplication } from "./applicationGraph";
import { type KeptDistribution, QUANTILE_STEPS } from "./decayingDistribution";
import type { KeptMean } from "./decayingMean";
import type { WorkflowCounts } from "./workflowsView";

/** What was learnt of all agents together at one model. */
export interface ModelSnapshot {
  readonly model: string;
  readonly request: KeptDistribution;
  readonly tokensPerSecond: KeptDistribution;
}

/** What a learner has learnt, as JSON has it. Of programs under way nothing is kept. Times are ages: the next learner's clock may be another. */
export interface WorkflowSnapshot {
  readonly version: 1;
  readonly counts: Omit<WorkflowCounts, "openPrograms">;
  /** The least recently seen first, as in all lists. */
  readonly applications: readonly KeptApplication[];
  readonly models: readonly ModelSnapshot[];
  readonly remaining: KeptDistribution;
  readonly remainingCalls: KeptMean;
  readonly request: KeptDistribution;
}

const count = z.int().min(0);
const seconds = z.number().min(0);
const mean = z.tuple([count, z.number()]) satisfies z.ZodType<KeptMean>;
const distribution = z
  .object({
    observations: count,
    state: z.enum(["empty", "learning", "converged", "drifted"]),
    values: z.array(seconds).max(QUANTILE_STEPS + 1),
  })
  .refine(({ observations, values }) => observations >= values.length && (observations === 0) === (values.length === 0))
  .refine(({ observations, state }) => (observations === 0) === (state === "empty")) satisfies z.ZodType<KeptDistribution>;

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
  request: z.array(z.tuple([z.string(), distribution])),
});
const edge = z.object({
  from: z.string(),
  to: z.string(),
  calls: count,
  programs: count,
  parallel: count,
  joins: count,
  loops: count,
});

/** Reads what a learner kept; what is not such a thing fails. */
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
  applications: z.array(
    z.object({
      name: z.string(),
      programs: count,
      lastSeenAgeSeconds: z.number(),
      seconds: mean,
      quietSeconds: seconds,
      agents: z.array(agent),
      edges: z.array(edge),
    }),
  ),
  models: z.array(z.object({ model: z.string(), request: distribution, tokensPerSecond: distribution })),
  remaining: distribution,
  remainingCalls: mean,
  request: distribution,
}) satisfies z.ZodType<WorkflowSnapshot>;
