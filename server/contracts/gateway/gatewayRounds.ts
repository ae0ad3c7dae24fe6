import { z } from "zod";
import type { ProgramPath, RoundsView } from "@/solver/policies/core/roundsView";

/** Sets as the words of `configurationSet.ts`. */
const words = z.array(z.int().min(0).max(0xffffffff)).readonly();

const worthTermsSchema = z.object({
  surenessSeconds: z.number(),
  latencySeconds: z.number(),
  priceSeconds: z.number(),
  /** Gateways before prices of tokens send none. */
  planPriceSeconds: z.number().default(0),
  restSeconds: z.number(),
});

const roundSchema = z.object({
  nowSeconds: z.number(),
  weighed: z.int(),
  passedOver: z.int(),
  requests: z.int(),
  kept: z.int(),
  models: z
    .array(
      z.object({
        model: z.string(),
        replicas: z.int(),
        down: z.boolean(),
        inFlight: z.int(),
        saturation: z.int(),
        free: z.int(),
      }),
    )
    .readonly(),
  candidates: z
    .array(
      z.object({
        utilisationGain: z.number(),
        flexibility: z.number(),
        given: z.array(z.int()).readonly(),
        assignments: z
          .array(
            z.object({
              workId: z.string(),
              programId: z.string(),
              agent: z.string(),
              model: z.string(),
              terms: worthTermsSchema.optional(),
            }),
          )
          .readonly(),
      }),
    )
    .readonly(),
}) satisfies z.ZodType<RoundsView["rounds"][number]>;

const programPathSchema = z.object({
  programId: z.string(),
  workflow: z.string(),
  agents: z.array(z.string()).readonly(),
  models: z.array(z.string()).readonly(),
  configurations: z.int(),
  accurate: words,
  left: words,
  chosen: z.array(z.int()).readonly(),
  oddsFactor: z.number().optional(),
}) satisfies z.ZodType<{ [field in keyof ProgramPath]: ProgramPath[field] extends Uint32Array ? readonly number[] : ProgramPath[field] }>;

/** GET `/rounds` on the admin listener: the latest rounds of the policy in force; `rounds` is null if it does not decide in rounds. */
export const gatewayRoundsSchema = z.object({
  rounds: z.array(roundSchema).readonly().nullable(),
  programs: z.array(programPathSchema).readonly(),
  /** On the clock of the rounds, in engine seconds. */
  asOfSeconds: z.number(),
  /** Predictions of configurations since the gateway started, by outcome. */
  predictions: z.object({
    /** The search finished. */
    whole: z.int(),
    /** Its time ended first: what it had verified by then is used. */
    partial: z.int(),
    /** Its time ended before anything was verified: only the largest models count as accurate. */
    none: z.int(),
    /** The predictor could not be asked: only the largest models count as accurate. */
    unasked: z.int(),
    /** Means over the searches that finished or were cut off; null if there were none. */
    meanMs: z.number().nullable(),
    meanBudgetMs: z.number().nullable(),
    /** Share of a workflow's heads that were evaluated. */
    evaluatedShare: z.number().nullable(),
    /** Requests that waited for their search, since an engine had room before it ended, and those that waited for an engine longer. */
    waitedFor: z.object({ search: z.int(), engine: z.int() }),
  }),
});
export type GatewayRounds = z.infer<typeof gatewayRoundsSchema>;
