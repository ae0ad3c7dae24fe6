import { z } from "zod";

const fraction = z.number().min(0).max(1);

/** SHA-256 of a trained predictor's bytes. */
export const predictorHash = z.string().regex(/^[0-9a-f]{64}$/);

/** What scores a prompt for each model, 0..100, before any model has answered. */
const routerSchema = z.discriminatedUnion("kind", [
  /**
   * A noisy prediction of the model's own label with this AUC. It knows what no prompt reveals: an upper bound, which no router reaches.
   */
  z.object({ kind: z.literal("modelled"), auc: fraction }),
  /** Trained confidence heads, by the hash of their artefact. */
  z.object({ kind: z.literal("trained"), predictor: predictorHash }),
]);

/**
 * Requests with a confident router score skip stages: a request starts at the first stage whose score, computed from the prompt before any
 * model has answered, is at least the stage's; where there is none, at the last. The last stage has no score of its own.
 */
export const directStartSchema = z.object({
  /** One score for all stages but the last, or one for each of them; a stage with 0 is never passed over. */
  below: z.union([z.int().min(1).max(100), z.array(z.int().min(0).max(100)).min(1).max(16)]),
  router: routerSchema,
});

/** The router that a plan is made with, in the form of a plan's inputs: the AUC of a modelled one, or the hash of a trained one. */
export const startRouterSchema = z.union([z.object({ auc: fraction }), z.object({ predictor: predictorHash })]);

export type StartRouter = z.infer<typeof startRouterSchema>;
type Router = z.infer<typeof routerSchema>;

/** A router as policies name it. */
export const routerOf = (router: StartRouter): Router =>
  "auc" in router ? { kind: "modelled", auc: router.auc } : { kind: "trained", predictor: router.predictor };

/** A policy's router as inputs of plans name it. */
export const startRouterOf = (router: Router): StartRouter =>
  router.kind === "modelled" ? { auc: router.auc } : { predictor: router.predictor };

/** Router scores, 0..100, from which requests start at a stage: one for all stages but the last, or one for each. 0: all start at the first. */
export type StartBelow = number | readonly number[];

/** One score for each stage but the last. */
export const startScores = (below: StartBelow, stages: number): readonly number[] =>
  typeof below === "number" ? new Array<number>(Math.max(0, stages - 1)).fill(below) : below;

/** The shortest form of scores of the stages: 0 where all requests start at the first, one number where all are equal. */
export function shortestStart(scores: readonly number[]): StartBelow {
  const [first = 0] = scores;
  // Every score is at least 0, so no request passes over the first stage.
  if (first === 0) return 0;
  return scores.every((score) => score === first) ? first : scores;
}

/** A router in a few words. */
export const routerText = (router: Router): string =>
  router.kind === "modelled"
    ? `a modelled router of AUC ${router.auc.toFixed(2)}, an upper bound`
    : `the trained predictor ${router.predictor.slice(0, 8)}`;

/** `70`, or `40 / 70` where stages differ. */
export const startText = (below: StartBelow): string => (typeof below === "number" ? `${below}` : below.join(" / "));
