import { orderNames } from "@/solver/lab/partNames";
import type { OrderDocument, PlaceDocument, PolicyDocument } from "@/solver/plan/policySchema";

/** The available orders: from those with the fewest inputs to those with the most. */
export const orderKinds = [
  "fcfs",
  "mlfq",
  "sjf",
  "stjf",
  "depth",
  "workflow",
  "deadline",
] as const satisfies readonly OrderDocument["kind"][];
export const placeKinds = [
  "round-robin",
  "least-load",
  "prefix",
  "lowest-kv",
  "time-slots",
] as const satisfies readonly PlaceDocument["kind"][];

/** An order under a policy, in a few words and in a sentence: rounds know the programs of all that waits. */
export const orderUnder = ({ kind }: Pick<PolicyDocument, "kind">, order: OrderDocument["kind"]): string =>
  kind === "just-in-time" && order === "fcfs" ? "by program start, later stages first" : orderNames[order];
export const orderSaysUnder = ({ kind }: Pick<PolicyDocument, "kind">, order: OrderDocument["kind"]): string =>
  kind === "just-in-time" && order === "fcfs"
    ? "Models are chosen in rounds. The program that began first goes first, within a program the later stages."
    : orderSays[order];

/** The input of each order, and its behaviour without it. */
const orderSays: Readonly<Record<OrderDocument["kind"], string>> = {
  fcfs: "Uses no data: the request that has waited longest goes first.",
  mlfq: "Uses the service that a program has received so far: long programs are demoted, nothing is predicted.",
  sjf: "Uses the answer's length from a predictor of the plan or the client's limit; if unknown, the prompt's length.",
  stjf: "Uses the remaining output of the program from a predictor of the plan or the client; if unknown, this answer alone.",
  deadline:
    "Uses the deadline that a client states with its request; if none, an implied one after the program's start: those requests go by program start.",
  depth: "Uses the remaining calls of an agent's programs, learnt from the calls that the gateway serves. Clients name their agents.",
  workflow:
    "Uses the remaining time of an agent's programs, learnt from the calls that the gateway serves, also while requests wait; within an agent by the program's start. Clients name their agents.",
};
export const placeSays: Readonly<Record<PlaceDocument["kind"], string>> = {
  "round-robin": "Uses the replicas in turn, whatever their load.",
  "least-load": "Counts the requests of each replica.",
  prefix:
    "Uses hashes of the prompt's text: weighs the prefix that each replica's cache should hold against its requests. Where none holds any, counts requests.",
  "lowest-kv": "Uses the KV use that engines report; if it is stale, counts requests.",
  "time-slots":
    "Adds up the expected memory of each request over time, holds back requests that would not fit, and sends nothing to engines under pressure. Without telemetry it treats capacity as unlimited.",
};
