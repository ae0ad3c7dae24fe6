import { composePolicy } from "../policies/composePolicy";
import type { Policy } from "../policies/core/policy";
import { fcfsOrder } from "../policies/orders/fcfsOrder";
import { leastLoadPlace } from "../policies/places/leastLoadPlace";
import { startWhereSure } from "../policies/routes/directStart";

/**
 * A router that chooses the model before any has answered: a cascade with a direct start whose answers are all accepted unjudged.
 *
 * @param models one a stage.
 * @param thresholds router scores, one fewer than models.
 */
export function routerPolicy(models: readonly string[], thresholds: readonly number[]): Policy {
  return composePolicy({
    route: {
      kind: "router",
      needs: ["confidence"],
      models,
      start: ({ routerScores }) => startWhereSure(models, thresholds, routerScores),
      judges: () => false,
      verdict: () => ({ kind: "accept", reason: "routed-before-answering" }),
    },
    order: fcfsOrder,
    place: leastLoadPlace,
  });
}
