import { z } from "zod";
import type { MemoryForecast } from "@/solver/policies/core/memoryForecast";
import type { WorkflowsView } from "@/solver/workflow/learning/workflowsView";

/**
 * Headers in which clients state what a call belongs to. All are optional, and none is ever an error: an invalid name counts as absent. The
 * program: `x-session-id` and its aliases, or else the trace of a W3C `traceparent`. The agent: `x-weir-agent`, or else `x-weir-stage`.
 */
export const agentHeader = "x-weir-agent";
/** Agents of the same program whose answers the call follows, separated by commas; absent: the agent that ended last before the call. */
export const parentsHeader = "x-weir-parents";
/** When the program began, in Unix milliseconds, for clients that work before their first call; absent: at its first call. */
export const startedAtHeader = "x-weir-started-at";

const distribution = {
  observations: z.int(),
  state: z.enum(["empty", "learning", "converged", "drifted"]),
  quantilesSeconds: z.array(z.number()),
  modeSeconds: z.number().nullable(),
};

const workflowsViewSchema = z.object({
  asOfSeconds: z.number(),
  applications: z.array(
    z.object({
      name: z.string(),
      programs: z.int(),
      lastSeenSeconds: z.number(),
      meanSeconds: z.number(),
      nodes: z.array(
        z.object({
          key: z.string(),
          name: z.string(),
          calls: z.int(),
          programs: z.int(),
          begins: z.int(),
          ends: z.int(),
          depth: z.number(),
          meanSeconds: z.number(),
          meanOutputTokens: z.number().nullable(),
        }),
      ),
      edges: z.array(
        z.object({
          from: z.string(),
          to: z.string(),
          calls: z.int(),
          programs: z.int(),
          parallel: z.int(),
          joins: z.int(),
          loop: z.boolean(),
        }),
      ),
    }),
  ),
  agents: z.array(
    z.object({
      key: z.string(),
      application: z.string(),
      name: z.string(),
      distanceSeconds: z.number().nullable(),
      remainingCalls: z.number(),
      remaining: z.object(distribution),
      request: z.array(z.object({ model: z.string(), ...distribution })),
    }),
  ),
  counts: z.object({
    programs: z.int(),
    calls: z.int(),
    openPrograms: z.int(),
    unnamedCalls: z.int(),
    lateCalls: z.int(),
    missingUpstream: z.int(),
    ties: z.int(),
    forgotten: z.int(),
  }),
}) satisfies z.ZodType<WorkflowsView>;

const memorySchema = z.object({
  nowSeconds: z.number(),
  slotSeconds: z.number(),
  replicas: z.array(
    z.object({
      replicaId: z.string(),
      model: z.string(),
      capacityTokens: z.number().nullable(),
      inFlight: z.int(),
      seats: z.int(),
      slotTokens: z.array(z.number()),
      suspended: z.string().nullable(),
      requests: z.array(z.object({ workId: z.string(), agent: z.string().nullable(), untilSeconds: z.number().nullable() })),
    }),
  ),
  next: z.array(
    z.object({
      workId: z.string(),
      agent: z.string().nullable(),
      queuedSinceSeconds: z.number(),
      replicaId: z.string().nullable(),
      held: z.enum(["seats", "memory", "pressure", "closed", "behind"]).nullable(),
      laterReplicaId: z.string().nullable(),
      peakTokens: z.number().nullable(),
    }),
  ),
}) satisfies z.ZodType<MemoryForecast>;

/**
 * GET `/workflows` on the admin listener; DELETE forgets all that was learnt. Seconds are engine seconds of the gateway's clock. `memory`
 * belongs to the cascade's policy, or is null if its placement does not pack memory.
 */
export const gatewayWorkflowsSchema = z.object({
  learnt: workflowsViewSchema,
  memory: memorySchema.nullable(),
  /** Whether the policy in force reads what is learnt. */
  used: z.boolean(),
  /** Start of the learning, in Unix milliseconds: the first start, or the last time it was reset. */
  sinceMs: z.number(),
});
export type GatewayWorkflows = z.infer<typeof gatewayWorkflowsSchema>;
