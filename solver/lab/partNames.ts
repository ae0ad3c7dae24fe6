import type { OrderDocument, PlaceDocument } from "../plan/policySchema";

/** Orders of waiting requests in words, with their usual short names. */
export const orderNames: Readonly<Record<OrderDocument["kind"], string>> = {
  fcfs: "first come, first served (FCFS)",
  sjf: "shortest request first (SJF)",
  stjf: "shortest program first (STJF)",
  workflow: "agent whose programs end soonest first (Kairos)",
  depth: "fewest calls yet to make first (Ayo)",
  deadline: "earliest deadline first (EDF)",
  mlfq: "least served program first (MLFQ)",
};

/** Choices of a replica in words. */
export const placeNames: Readonly<Record<PlaceDocument["kind"], string>> = {
  "least-load": "least loaded replica",
  prefix: "replica whose cached prefix is worth most against its load",
  "lowest-kv": "replica with the emptiest KV cache",
  "round-robin": "replicas in turn",
  "time-slots": "replica with the lowest peak of expected memory (Kairos)",
};

/** Ways to a model in words. */
export const routeNames = {
  fixed: "route to one model",
  balanced: "balanced route",
  slack: "route within a slack",
  cascade: "cascade that judges nothing",
  "just-in-time": "route at dispatch",
} as const;
