import { orderNames } from "@/solver/lab/partNames";
import type { OrderDocument, PlaceDocument, PolicyDocument } from "@/solver/plan/policySchema";

/** Orders as they are offered: from those that read nothing to those that read most. */
export const orderKinds = ["fcfs", "mlfq", "sjf", "stjf", "depth", "workflow"] as const satisfies readonly OrderDocument["kind"][];
export const placeKinds = ["round-robin", "least-load", "lowest-kv", "time-slots"] as const satisfies readonly PlaceDocument["kind"][];

/** Those that a policy can have: rounds, which choose models just in time, give slots away themselves. */
export const ordersUnder = (policy: Pick<PolicyDocument, "kind">): readonly OrderDocument["kind"][] =>
  policy.kind === "just-in-time" ? [] : orderKinds;
export const placesUnder = (policy: Pick<PolicyDocument, "kind">): readonly PlaceDocument["kind"][] =>
  placeKinds.filter((kind) => policy.kind !== "just-in-time" || kind !== "time-slots");

/** Who goes first under a policy, in a few words and in a sentence. */
export const orderUnder = ({ kind, order }: Pick<PolicyDocument, "kind" | "order">): string =>
  kind === "just-in-time" ? "by when its program began, later stages first" : orderNames[order.kind];
export const orderSaysUnder = ({ kind }: Pick<PolicyDocument, "kind">, order: OrderDocument["kind"]): string =>
  kind === "just-in-time"
    ? "Models are chosen in rounds, which go by when a program began, and within a program by later stages first: there is no other order."
    : orderSays[order];

/** What each goes by, and what it does without it. */
const orderSays: Readonly<Record<OrderDocument["kind"], string>> = {
  fcfs: "Reads nothing: whoever has waited longest goes first.",
  mlfq: "Goes by the service that a program has had so far: long programs sink, nothing is predicted.",
  sjf: "Goes by the answer's length, as a predictor of the plan or the client's limit says; of unknown length, by the prompt's.",
  stjf: "Goes by what the program has yet to write, as a predictor of the plan or the client says; unknown, by this answer alone.",
  depth:
    "Goes by the calls that an agent's programs have yet to make, learnt from the calls that the gateway serves. Clients name their agents.",
  workflow:
    "Goes by how long an agent's programs still take, learnt from the calls that the gateway serves, in steps of a quarter; within a step by the program's start. Clients name their agents.",
};
export const placeSays: Readonly<Record<PlaceDocument["kind"], string>> = {
  "round-robin": "Takes the replicas in turn, whatever they hold.",
  "least-load": "Counts the requests that a replica has.",
  "lowest-kv": "Reads the KV use that engines tell; where it is not fresh, counts requests.",
  "time-slots":
    "Adds up the memory that each request is expected to take over time, holds back what would not fit, and sends nothing to engines under pressure. Without telemetry it sees capacity as unlimited.",
};
