import { z } from "zod";
import { ensembleSchema, tauSchema } from "@/solver/ensemble/ensembleDocument";
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

/** How one request of an ensemble ended. */
const ensembleOutcomeSchema = z.enum([
  /** Experts agreed: the answer that led was returned. */
  "skipped",
  /** They did not: the aggregator's was. */
  "aggregated",
  /** The aggregator failed, and the answer that led was returned in its place. */
  "aggregator-failed",
  /** No expert and no aggregator answered, the aggregator broke off what was streamed already, or the gateway ended the request. */
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
      /** `no-vote`: it answered and nothing could be read off it; `late`: it had not answered when the gate decided. */
      state: z.enum(["voted", "no-vote", "late", "failed"]),
      vote: z.string().nullable(),
      seconds: z.number().nullable(),
      outputTokens: z.int().nullable(),
    }),
  ),
  /** Engine seconds from arrival to the gate's decision, and to the whole answer. */
  decidedSeconds: z.number(),
  seconds: z.number(),
});

/** One ensemble as it is served, with what was counted since the gateway started. */
const servedEnsembleSchema = z.object({
  ensemble: ensembleSchema,
  /** Models of it that no engine of the configuration serves. */
  missing: z.array(z.string()),
  requests: z.int(),
  outcomes: z.record(ensembleOutcomeSchema, z.int()),
  /** Decided at the deadline, not by votes. */
  atDeadline: z.int(),
  /** Decided without the quorum, at the deadline or because every expert that had not answered had failed. */
  belowQuorum: z.int(),
  /** By votes, as `3:0`, `2:1`, `1:1:1`, and with experts missing `2:0`. */
  votes: z.record(z.string(), z.object({ requests: z.int(), skipped: z.int() })),
  experts: z.array(
    z.object({ model: z.string(), asked: z.int(), voted: z.int(), noVote: z.int(), late: z.int(), failed: z.int(), inMajority: z.int() }),
  ),
  /** Newest first, a hundred at most. */
  latest: z.array(ensembleCallSchema),
});

/** GET `/ensembles`. */
export const gatewayEnsemblesSchema = z.object({ ensembles: z.array(servedEnsembleSchema) });

export type EnsembleOutcome = z.infer<typeof ensembleOutcomeSchema>;
export type EnsembleCall = z.infer<typeof ensembleCallSchema>;
export type ServedEnsemble = z.infer<typeof servedEnsembleSchema>;
export type GatewayEnsembles = z.infer<typeof gatewayEnsemblesSchema>;
