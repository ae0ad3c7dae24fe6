import { composePolicy } from "../policies/composePolicy";
import { fcfsOrder } from "../policies/fcfsOrder";
import { leastLoadPlace } from "../policies/leastLoadPlace";
import type { Policy } from "../policies/policy";

/**
 * A router that chooses the model before any has answered: each request goes straight to the stage chosen for it and its answer is
 * accepted unjudged. For simulation: requests are known by their index, which the cluster simulator uses as their id.
 *
 * @param models one a stage.
 * @param stageOf stage of each request.
 */
export function routerPolicy(models: readonly string[], stageOf: ArrayLike<number>): Policy {
  const served = composePolicy({
    route: {
      kind: "router",
      needs: ["predictions"],
      models,
      judges: () => false,
      verdict: () => ({ kind: "accept", reason: "routed-before-answering" }),
    },
    order: fcfsOrder,
    place: leastLoadPlace,
  });
  const misplaced = (id: string, stage: number): boolean => (stageOf[Number(id)] ?? 0) !== stage;
  return {
    ...served,
    decide(view) {
      const moves = view.waiting
        .filter(({ id, stage, state }) => state.kind === "queued" && misplaced(id, stage))
        .map(({ id }) => ({ kind: "escalate" as const, workId: id, stage: stageOf[Number(id)] ?? 0, reason: "routed-before-answering" }));
      // Moved requests join their own stage's queue first; the driver asks again at once.
      return moves.length > 0 ? moves : served.decide(view);
    },
  };
}
