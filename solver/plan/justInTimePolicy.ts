import { z } from "zod";
import { gateSchema } from "@/solver/gates/gateDocument";
import { machineName } from "@/solver/wording/names";
import { cascadeRouteSchema } from "./cascadePolicy";
import { predictorHash } from "./directStart";
import { queueing } from "./queueing";
import { slackRouteSchema } from "./slackPolicy";
import { MOST_AGENTS, workflowDocumentSchema } from "./workflowDocument";

/** Models of a policy at most. */
const MOST_MODELS = 8;

/** Answers of every agent by every model but the largest. */
const MOST_ANSWERS = MOST_AGENTS * (MOST_MODELS - 1);

/** A model for each agent of a workflow, by name. */
const configurationSchema = z.record(z.string().min(1), machineName);

/** All waiting requests together, in rounds, by a beam search that keeps this number of partial assignments; 1 is greedy. */
export const beamSchema = z.object({ kind: z.literal("beam"), width: z.int().min(1).max(64) });

/** Prices of the models' tokens: `plannedPrice.ts` derives them, `tokenPrices.ts` corrects them while serving. */
export const tokenPriceSchema = z.object({
  /** Models of the policy, each once at most; others have no price. */
  models: z
    .array(
      z.object({
        model: machineName,
        /** Seconds, summed over all other requests, by which one output token there delays them at the planned load. */
        secondsPerToken: z.number().nonnegative(),
        /** Mean number of requests that wait for it at the planned load. */
        waiting: z.number().nonnegative(),
      }),
    )
    .min(1)
    .max(8),
  /** Time constant with which the number that waits is smoothed before it corrects the prices. */
  dampingSeconds: z.number().positive().max(3600),
});

/** Request by request in the policy's order, the model of highest worth, or a wait for it: `worth.ts` has the formula. */
const pricedWorthSchema = z.object({
  kind: z.literal("worth"),
  /** Seconds that a right answer is worth more than a wrong one. */
  rightSeconds: z.number().min(0).max(3600),
  /** How much the delay of those that wait counts against own time; of those that run, once at most. 0: no delay of others counts. */
  delayWeight: z.number().min(0).max(10),
  /** Price of each model's tokens; left out: tokens have none. */
  price: tokenPriceSchema.optional(),
});

/** The same as an operator asks for it: the planner knows the loads. */
export const worthSchema = pricedWorthSchema.omit({ price: true }).extend({
  /** Tokens have the price that the plan's loads give them; left out: none. */
  priced: z.literal(true).optional(),
});

/**
 * The rule by which requests of workflows get their models: Aragog's rounds, and the systems it is compared with, each choosing among the
 * configurations that are predicted to be accurate for the request.
 */
const selectionSchema = z.discriminatedUnion("kind", [
  beamSchema,
  /** The same by trying every assignment of the eight oldest. */
  z.object({ kind: z.literal("exhaustive") }),
  /** One configuration for all requests of a workflow, by its name (per-workflow). */
  z.object({ kind: z.literal("fixed"), configurations: z.record(z.string().min(1), configurationSchema) }),
  /** The cheapest accurate one, chosen when the program arrives (per-input). */
  z.object({ kind: z.literal("cheapest") }),
  /**
   * The one with the least latency under the current load, chosen when the program arrives (per-input+), or again at each stage
   * (per-input++).
   */
  z.object({ kind: z.literal("quickest"), when: z.enum(["arrival", "stage"]) }),
  pricedWorthSchema,
]);

const chance = z.number().min(0).max(1);

/** What the scores of an agent's answers by one model say of its programs: `scoreShift.ts` has the formula. */
const answersSchema = z.strictObject({
  agent: z.string().min(1),
  model: machineName,
  /** Chance that such an answer is right where the program ends as accurate as with the largest models, and where it does not. */
  rightIfAccurate: chance,
  rightIfNot: chance,
});

/** A gate that scores the answers of one model to calls of workflows. */
const callGateSchema = z.strictObject({
  model: machineName,
  gate: gateSchema,
  /** Chance that an answer of the model is right, before its score is known: the mean of the gate's calibrated scores, divided by 100. */
  prior: chance,
});

/** Just-in-time configuration of workflow stages (Aragog): a stage's model is chosen when an engine has room for it. */
export const justInTimePolicySchema = z.object({
  kind: z.literal("just-in-time"),
  /** Smallest first. */
  models: z
    .array(
      z.object({
        model: machineName,
        /** Cost of a token relative to the other models: billions of active parameters. */
        cost: z.number().positive(),
        /**
         * Requests in flight beyond which a replica's throughput no longer rises, or its sequences or KV cache are used up: its maximum.
         */
        saturationBatch: z.int().min(1).max(4096),
        /** Output tokens a second of one replica with this number of requests in flight; ascending, the last at `saturationBatch`. */
        throughput: z
          .array(z.object({ batch: z.int().positive(), tokensPerSecond: z.number().positive() }))
          .min(1)
          .max(64),
        /** Output tokens of a request there; left out: not known, and models cannot be chosen by worth. */
        meanOutputTokens: z.number().positive().optional(),
        /** The limit reached there; left out: not known. */
        endedBy: z.enum(["throughput", "sequences", "memory"]).optional(),
      }),
    )
    .min(1)
    .max(MOST_MODELS),
  workflows: z
    .array(
      z.object({
        workflow: workflowDocumentSchema,
        /** Predictor of its accurate configurations, by hash; left out: only that of the largest models is known to be accurate. */
        predictor: predictorHash.optional(),
        /** What scores of answers say of the program, where a gate of `callGates` gives any; left out: nothing. */
        answers: z.array(answersSchema).max(MOST_ANSWERS).optional(),
      }),
    )
    .max(16),
  selection: selectionSchema,
  /** What scores answers to calls of workflows, so that scores change which configurations count as accurate; left out: nothing does. */
  callGates: z
    .array(callGateSchema)
    .min(1)
    .max(MOST_MODELS - 1)
    .optional(),
  /** How requests of no declared workflow are served, on models of the list; left out: all by the last. */
  singles: z
    .discriminatedUnion("kind", [cascadeRouteSchema, slackRouteSchema, z.object({ kind: z.literal("fixed"), model: machineName })])
    .optional(),
  ...queueing,
});
