import { type OrderDocument, type PlaceDocument, type PolicyDocument, withLearntRead } from "../plan/policySchema";
import { policyRefusal } from "./policyRefusal";

/** Number of releases after which waiting work goes first, whatever its order; default of the policy. */
const AGING_THRESHOLD = 1000;
/** Service after which a program moves down a level; default of the policy. */
const QUANTA_SECONDS = [1, 2, 4, 8, 16];
/** Seconds after a program began at which its answer counts as due where no client says; default of the policy. */
const IMPLIED_SECONDS = 60;
/** Maximum load of a program's last replica relative to the best; default of the policy. */
const AFFINITY_RATIO = 0.5;

/** Which queued request goes first, and to which replica. */
export interface Queueing {
  readonly order: OrderDocument["kind"];
  readonly place: PlaceDocument["kind"];
  /** Whether a program goes back to its last replica. */
  readonly affinity: boolean;
}

/** The policy's own order and place. */
export const queueingOf = ({ order, place }: PolicyDocument): Queueing => ({
  order: order.kind,
  place: place.kind,
  affinity: place.affinity !== undefined,
});

/**
 * A policy with the same routes and another order and place. Its settings of aging, levels and affinity are kept where the new order and
 * place read them; a predictor of lengths that nothing reads any more is left out.
 *
 * @returns a sentence that says why there is none: nothing would change, or no such policy can run.
 */
export function changeQueueing(
  { order: kind, place, affinity }: Queueing,
  policy: PolicyDocument,
): { readonly policy: PolicyDocument } | { readonly refused: string } {
  const { order: old, place: oldPlace } = policy;
  if (old.kind === kind && oldPlace.kind === place && (oldPlace.affinity !== undefined) === affinity)
    return { refused: "This is the plan's own order and place: choose another." };
  const agingThreshold = "agingThreshold" in old ? old.agingThreshold : AGING_THRESHOLD;
  const quantaSeconds = old.kind === "mlfq" ? old.quantaSeconds : QUANTA_SECONDS;
  const orderOf = (wanted: OrderDocument["kind"]): OrderDocument => {
    switch (wanted) {
      case "fcfs":
        return { kind: wanted };
      case "mlfq":
        return { kind: wanted, quantaSeconds, agingThreshold };
      case "deadline":
        return { kind: wanted, impliedSeconds: old.kind === wanted ? old.impliedSeconds : IMPLIED_SECONDS, agingThreshold };
      default:
        return { kind: wanted, agingThreshold };
    }
  };
  const made = withLearntRead({
    ...policy,
    order: orderOf(kind),
    place: { kind: place, ...(affinity ? { affinity: oldPlace.affinity ?? { ratio: AFFINITY_RATIO } } : {}) },
  });
  const refused = policyRefusal(made);
  return refused === null ? { policy: made } : { refused };
}
