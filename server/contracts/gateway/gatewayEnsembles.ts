import { z } from "zod";
import { ensembleSchema, tauSchema } from "@/solver/ensemble/gate/ensembleDocument";
import { signatureSchema } from "./gatewayControls";

/** Ensembles that one gateway serves. */
export const MOST_ENSEMBLES = 16;

/** What clients put before an ensemble's name in `model`. */
export const ensemblePrefix = "ensemble/";

/**
 * PUT `/ensembles/<name>` on the admin listener: serve this one under its name from the next request on. DELETE takes a signature and ends it. Every change
 * needs `If-Match` with the configuration's ETag, which GET `/ensembles` gives too, and is answered with what GET answers.
 */
export const ensembleRequestSchema = signatureSchema.extend({ ensemble: ensembleSchema });

/** PUT `/ensembles/<name>/tau`: the gate's threshold from the next decision on. */
export const tauRequestSchema = signatureSchema.extend({ tau: tauSchema });

/** How one request of an ensemble ended. One that every model refused alike as wrong is none of them: its client is told so, and it is not counted here. */
const ensembleOutcomeSchema = z.enum([
  /** Experts agreed: the answer that led was returned. */
  "skipped",
  /** They did not: the aggregator's was. */
  "aggregated",
  /** The aggregator failed, or wrote nothing before the time of the request was over, and the answer that led was returned in its place. */
  "aggregator-failed",
  /** The aggregator failed where no vote led, as where no model had room, or broke off what was streamed already, as it does where time is over; or the gateway ended the request. */
  "failed",
]);

/** One request of an ensemble, for the list of the latest. */
const ensembleCallSchema = z.object({
  id: z.string(),
  /** Unix milliseconds at which it was answered. */
  atMs: z.number(),
  outcome: ensembleOutcomeSchema,
  /** Under which it was decided. */
  tau: z.number(),
  confidence: z.number(),
  /** Votes by answer, most first, as `2:1`; `0` where nobody voted. */
  votes: z.string(),
  experts: z.array(
    z.object({
      model: z.string(),
      /**
       * `no-vote`: it answered and nothing could be read off it; `late`: it had not answered when time was over for experts; `not-needed`: it was not waited
       * for, as no answer of it could have kept the gate from skipping.
       */
      state: z.enum(["voted", "no-vote", "late", "not-needed", "failed"]),
      vote: z.string().nullable(),
      seconds: z.number().nullable(),
      outputTokens: z.int().nullable(),
    }),
  ),
  /** Engine seconds from arrival to the gate's decision, and to the whole answer. */
  decidedSeconds: z.number(),
  seconds: z.number(),
});

/** What was counted of an ensemble in a span of time. */
const ensembleCountsSchema = z.object({
  /** Unix milliseconds by the gateway's clock, from which on it was counted. */
  sinceMs: z.number(),
  requests: z.int(),
  outcomes: z.record(ensembleOutcomeSchema, z.int()),
  /** Decided at the deadline, not by votes. */
  atDeadline: z.int(),
  /** Decided without the quorum, at the deadline or because every expert that had not answered had failed. */
  belowQuorum: z.int(),
  /**
   * By votes, as `3:0`, `2:1`, `1:1:1`, and with experts missing `2:0`: requests, those of them that had the quorum, and those that did not wait for every
   * expert.
   */
  votes: z.record(z.string(), z.object({ requests: z.int(), skipped: z.int(), withQuorum: z.int(), early: z.int() })),
  experts: z.array(
    z.object({
      ...{ model: z.string(), asked: z.int(), voted: z.int(), noVote: z.int(), late: z.int(), notNeeded: z.int(), failed: z.int() },
      /** Votes for the answer that led, where no other had as much weight. */
      inMajority: z.int(),
    }),
  ),
});

/**
 * One ensemble as it is served, with all that was counted since the gateway started, or since it was served first where that is later. Votes alone begin
 * anew where anything but its tau changes: of other experts they say nothing.
 */
const servedEnsembleSchema = ensembleCountsSchema.extend({
  ensemble: ensembleSchema,
  /** Engine seconds after which the gate decides about what is there: its deadline, and half of what the gateway gives a request where that is less. */
  decidesAfterSeconds: z.number(),
  /** Models of it that no engine of the configuration serves. */
  missing: z.array(z.string()),
  /** Of requests that were decided by the ensemble as it is served now, its tau above all: one that comes back after another begins anew. */
  inForce: ensembleCountsSchema,
  /** Newest first, a hundred at most. */
  latest: z.array(ensembleCallSchema),
});

/** GET `/ensembles`. */
export const gatewayEnsemblesSchema = z.object({ ensembles: z.array(servedEnsembleSchema) });

export type EnsembleOutcome = z.infer<typeof ensembleOutcomeSchema>;
export type EnsembleCall = z.infer<typeof ensembleCallSchema>;
export type EnsembleCounts = z.infer<typeof ensembleCountsSchema>;
export type ServedEnsemble = z.infer<typeof servedEnsembleSchema>;
export type GatewayEnsembles = z.infer<typeof gatewayEnsemblesSchema>;
