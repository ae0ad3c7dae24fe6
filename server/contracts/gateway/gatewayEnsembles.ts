import { z } from "zod";
import { ensembleSchema, tauSchema } from "@/solver/ensemble/gate/ensembleDocument";
import { signatureSchema } from "./gatewayControls";

/** Ensembles that one gateway serves. */
export const MOST_ENSEMBLES = 16;

/** The prefix of an ensemble's name in `model`. */
export const ensemblePrefix = "ensemble/";

/**
 * PUT `/ensembles/<name>` on the admin listener: serve this one under its name from the next request on. DELETE takes a signature and ends
 * it. Every change needs `If-Match` with the configuration's ETag, which GET `/ensembles` gives too, and has the same answer as GET.
 */
export const ensembleRequestSchema = signatureSchema.extend({ ensemble: ensembleSchema });

/** PUT `/ensembles/<name>/tau`: the gate's threshold from the next decision on. */
export const tauRequestSchema = signatureSchema.extend({ tau: tauSchema });

/**
 * How one request of an ensemble ended. A request that every model refused as invalid is not one of them: its client gets the refusal, and
 * it is not counted here.
 */
const ensembleOutcomeSchema = z.enum([
  /** Experts agreed: the leading answer was returned. */
  "skipped",
  /** They did not: the aggregator's answer was returned. */
  "aggregated",
  /** The aggregator failed, or wrote nothing before the request's time limit, and the leading answer was returned in its place. */
  "aggregator-failed",
  /**
   * The aggregator failed and no vote led (for example, no model had room), or it broke off an answer that was already being streamed (for
   * example at the time limit); or the gateway ended the request.
   */
  "failed",
]);

/** One request of an ensemble, for the list of the latest. */
const ensembleCallSchema = z.object({
  id: z.string(),
  /** Unix milliseconds at which it was answered. */
  atMs: z.number(),
  outcome: ensembleOutcomeSchema,
  /** Threshold under which it was decided. */
  tau: z.number(),
  confidence: z.number(),
  /** Votes by answer, most first, as `2:1`; `0` if there were none. */
  votes: z.string(),
  experts: z.array(
    z.object({
      model: z.string(),
      /**
       * `no-vote`: it answered without a readable vote; `late`: it had not answered at the experts' deadline; `not-needed`: it was not
       * waited for, since no answer of it could have kept the gate from skipping.
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

/** Counts of an ensemble in a span of time. */
const ensembleCountsSchema = z.object({
  /** Unix milliseconds by the gateway's clock at which the counts begin. */
  sinceMs: z.number(),
  requests: z.int(),
  outcomes: z.record(ensembleOutcomeSchema, z.int()),
  /** Decided at the deadline, not by votes. */
  atDeadline: z.int(),
  /** Decided without the quorum, at the deadline or because every expert without an answer had failed. */
  belowQuorum: z.int(),
  /**
   * By votes, as `3:0`, `2:1`, `1:1:1`, and with experts missing `2:0`: requests, those of them that had the quorum, and those that did not wait for every
   * expert.
   */
  votes: z.record(z.string(), z.object({ requests: z.int(), skipped: z.int(), withQuorum: z.int(), early: z.int() })),
  experts: z.array(
    z.object({
      ...{ model: z.string(), asked: z.int(), voted: z.int(), noVote: z.int(), late: z.int(), notNeeded: z.int(), failed: z.int() },
      /** Votes for the leading answer, if no other had the same weight. */
      inMajority: z.int(),
    }),
  ),
});

/**
 * One served ensemble with its counts since the gateway started, or since it was first served if that is later. Only the votes restart if
 * anything but its tau changes: votes of other experts say nothing about it.
 */
const servedEnsembleSchema = ensembleCountsSchema.extend({
  ensemble: ensembleSchema,
  /**
   * Engine seconds after which the gate decides on the votes it has: its deadline, or half of the gateway's time limit for a request if
   * that is less.
   */
  decidesAfterSeconds: z.number(),
  /** Its models that no engine of the configuration serves. */
  missing: z.array(z.string()),
  /** For requests decided by the ensemble in its present form, including its tau: one that returns to an earlier form restarts. */
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
