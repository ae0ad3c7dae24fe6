import { z } from "zod";
import { deprecatedFields, readingOldNames } from "./deprecatedFields";
import { predictorHash } from "./directStart";

/**
 * Releases of other work from its queue after which waiting work goes before all later work. Well above the usual length of a queue:
 * in a longer one nearly all work has aged, and leaves in order of arrival.
 */
const agingThreshold = z.int().min(1).max(10_000);

/** Which of a model's queued requests leaves first. All but the first age: `releaseQueue.ts` states the bound on waiting. */
const orderSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("fcfs") }),
  /** Shortest job first, by the request's own output. */
  z.object({ kind: z.literal("sjf"), agingThreshold }),
  /** Shortest total job first, by the tokens that the request and everything after it in its program have yet to write. */
  z.object({ kind: z.literal("stjf"), agingThreshold }),
  /** First the agent whose programs end soonest, from learnt workflows; within an agent the program that began first (Kairos). */
  z.object({ kind: z.literal("workflow"), agingThreshold }),
  /** First the program with the fewest calls yet to make, from learnt workflows (Ayo). */
  z.object({ kind: z.literal("depth"), agingThreshold }),
  /** Earliest deadline first, as clients state them; where none is stated, so many seconds after the program began. */
  z.object({ kind: z.literal("deadline"), impliedSeconds: z.number().positive().max(86_400), agingThreshold }),
  /** Multi-level feedback: a program moves down one level with each quantum of service it has received. */
  z.object({
    kind: z.literal("mlfq"),
    quantaSeconds: z.array(z.number().positive()).min(1).max(32),
    agingThreshold,
    /**
     * Engines that queue by the policy's key also count levels while a request runs, and take it out for one of a higher level. The engines
     * of the lab can; those behind the gateway cannot, and there levels change between requests only. Left out: nowhere.
     */
    preempts: z.literal(true).optional(),
  }),
]);

/** Which replica of its model a request goes to. */
const placeSchema = z.object({
  kind: z.enum(["round-robin", "least-load", "lowest-kv", "time-slots", "prefix"]),
  /** A program returns to its last replica unless that is more loaded than the best by this ratio (0.5: by half). */
  affinity: z.object({ ratio: z.number().nonnegative() }).optional(),
});

/** Predictors by the SHA-256 of their artefacts: of lengths for the order and for loads, of confidence for the route. */
const learntSchema = z.object({ lengths: predictorHash.optional(), confidence: predictorHash.optional() });

/** The parts of a policy that say which request goes first and where. */
export const queueing = {
  order: readingOldNames(orderSchema, deprecatedFields.order),
  place: placeSchema,
  learnt: learntSchema.optional(),
};
