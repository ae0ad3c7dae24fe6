import { z } from "zod";
import { machineName } from "@/solver/wording/names";
import { queueing } from "./queueing";

const fraction = z.number().min(0).max(1);

const approvedRange = z.object({ min: z.number().nonnegative(), max: z.number().nonnegative() });

/** A price on scarce capacity, from the backlog of each model: `slackPrice.ts`. */
const capacityPriceSchema = z.object({
  /** Confidence that a request must be worth at the model where it is the least work, for each floor of load there. */
  weight: z.number().positive().max(1),
  /** Time constant with which the backlog is smoothed. */
  dampingSeconds: z.number().positive().max(3600),
});

const fields = {
  kind: z.literal("slack"),
  models: z
    .array(
      z.object({
        model: machineName,
        decodeSecondsPerToken: z.number().positive(),
        maxBatchSize: z.int().positive(),
        /** Confidence that it solves a request without a router's score. */
        confidence: fraction,
        /** Output tokens that a request counts as where nothing predicts them; left out: its input tokens. */
        meanOutputTokens: z.number().positive().optional(),
      }),
    )
    .min(2),
  /** A model's load may be (1 + tau) times the least. */
  tau: z.number().nonnegative(),
  /** Minimum excess of confidence over the least loaded model for another to be preferred to it. */
  deltaScore: fraction,
  /** A program may go to another model between its requests, when its own is beyond the slack; left out, as in comparisons: never. */
  changesModel: z.literal(true).optional(),
  /** Loads below it count as it: usually one unloaded request's decode time. 0, as in the source, leaves no slack next to an idle model. */
  floorSeconds: z.number().nonnegative(),
  /** Models count with their confidence less the price of their capacity; left out, as in the source: capacity has no price. */
  price: capacityPriceSchema.optional(),
  /** The ranges inside which an operator may change the two knobs without a new approval. */
  approvedRanges: z.object({ tau: approvedRange, deltaScore: approvedRange }),
};

/** Slack dispatch (Chimera, algorithm 1): the most confident model whose load is within a slack of the least loaded one's. */
export const slackPolicySchema = z.object({ ...fields, ...queueing });

/** The same without the order and the place of its requests: where another policy has these. */
export const slackRouteSchema = z.object(fields);
