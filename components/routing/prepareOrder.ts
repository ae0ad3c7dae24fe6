import type { OrderDocument, PlaceDocument, PolicyDocument } from "@/solver/plan/policySchema";
import { policyRefusal } from "@/solver/policies/policyRefusal";

/** Orders as they are offered: from those that read nothing to those that read most. */
export const orderKinds = ["fcfs", "mlfq", "sjf", "stjf", "depth", "workflow"] as const satisfies readonly OrderDocument["kind"][];
export const placeKinds = ["round-robin", "least-load", "lowest-kv", "time-slots"] as const satisfies readonly PlaceDocument["kind"][];

/** What each goes by, and what it does without it. */
export const orderSays: Readonly<Record<OrderDocument["kind"], string>> = {
  fcfs: "Reads nothing: whoever has waited longest goes first.",
  mlfq: "Goes by the service that a program has had so far: long programs sink, nothing is predicted.",
  sjf: "Goes by the answer's length, as a predictor of the plan or the client's limit says; of unknown length, by the prompt's.",
  stjf: "Goes by what the program has yet to write, as a predictor of the plan or the client says; unknown, by this answer alone.",
  depth:
    "Goes by the calls that an agent's programs have yet to make, learnt from the calls that the gateway serves. Clients name their agents.",
  workflow:
    "Goes by how long an agent's programs still take, learnt from the calls that the gateway serves; within an agent by the program's start. Clients name their agents.",
};
export const placeSays: Readonly<Record<PlaceDocument["kind"], string>> = {
  "round-robin": "Takes the replicas in turn, whatever they hold.",
  "least-load": "Counts the requests that a replica has.",
  "lowest-kv": "Reads the KV use that engines tell; where it is not fresh, counts requests.",
  "time-slots":
    "Adds up the memory that each request is expected to take over time, holds back what would not fit, and sends nothing to engines under pressure. Without telemetry it sees capacity as unlimited.",
};

/** Releases after which what waits goes first, whatever its order, where the plan does not say. */
const AGING_RELEASES = 1000;
/** Service after which a program sinks a level, where the plan does not say. */
const QUANTA_SECONDS = [1, 2, 4, 8, 16];
const AFFINITY_RATIO = 0.5;

/** Which of the queued requests goes first, and where to. */
export interface OrderForm {
  readonly order: OrderDocument["kind"];
  readonly place: PlaceDocument["kind"];
  /** Whether a program goes back to its last replica. */
  readonly affinity: boolean;
}

export const orderOf = ({ order, place }: PolicyDocument): OrderForm => ({
  order: order.kind,
  place: place.kind,
  affinity: place.affinity !== undefined,
});

/** A policy with another order and place and the same routes; or, in a sentence, why there is none. */
export function composeOrder(
  { order: kind, place, affinity }: OrderForm,
  policy: PolicyDocument,
): { readonly policy: PolicyDocument } | { readonly refused: string } {
  const { order: old, place: oldPlace, learnt: all, ...routes } = policy;
  if (old.kind === kind && oldPlace.kind === place && (oldPlace.affinity !== undefined) === affinity)
    return { refused: "This is the plan's own order and place: choose another." };
  const agingReleases = "agingReleases" in old ? old.agingReleases : AGING_RELEASES;
  const quantaSeconds = old.kind === "mlfq" ? old.quantaSeconds : QUANTA_SECONDS;
  // A predictor that nothing reads would only cost each request its time.
  const { lengths, ...others } = all ?? {};
  const reads = policy.kind === "slack" || kind === "sjf" || kind === "stjf";
  const learnt = { ...others, ...(lengths === undefined || !reads ? {} : { lengths }) };
  const made: PolicyDocument = {
    ...routes,
    order: kind === "fcfs" ? { kind } : kind === "mlfq" ? { kind, quantaSeconds, agingReleases } : { kind, agingReleases },
    place: { kind: place, ...(affinity ? { affinity: oldPlace.affinity ?? { ratio: AFFINITY_RATIO } } : {}) },
    ...(Object.keys(learnt).length === 0 ? {} : { learnt }),
  };
  const refused = policyRefusal(made);
  return refused === null ? { policy: made } : { refused };
}
