import type { OrderDocument, PlaceDocument, PolicyDocument } from "../plan/policySchema";
import type { LabSystem } from "./labSpec";

/**
 * Kairos and the systems that its source compares it with, for any route of requests to a model: Parrot (order of arrival, replicas in
 * turn), Ayo (fewest calls yet to make, in turn), Kairos without either half, and with an oracle's order. Agents' remaining latencies and
 * calls are learnt in the run, from nothing.
 *
 * @param routed a policy with the route of the race.
 * @param agingThreshold releases after which waiting work goes first.
 */
export function kairosSystems(
  routed: (order: OrderDocument, place: PlaceDocument) => PolicyDocument,
  agingThreshold: number,
): readonly (LabSystem & { readonly about: string })[] {
  const fcfs: OrderDocument = { kind: "fcfs" };
  const workflow: OrderDocument = { kind: "workflow", agingThreshold };
  const inTurn: PlaceDocument = { kind: "round-robin" };
  const packed: PlaceDocument = { kind: "time-slots" };
  const none = { lengths: "none", confidence: "none" } as const;
  return [
    { name: "Parrot", policy: routed(fcfs, inTurn), ...none, about: "The order of arrival; a model's replicas in turn." },
    {
      name: "Ayo",
      policy: routed({ kind: "depth", agingThreshold }, inTurn),
      ...none,
      about: "The program with the fewest calls yet to make first; a model's replicas in turn.",
    },
    {
      name: "Kairos",
      policy: routed(workflow, packed),
      ...none,
      about:
        "The agent whose programs end soonest first; the replica with the lowest peak of expected memory, or none yet. Learnt in the run.",
    },
    {
      name: "Kairos, no priority",
      policy: routed(fcfs, packed),
      ...none,
      about: "Kairos in the order of arrival: what its place is worth by itself.",
    },
    {
      name: "Kairos, no packing",
      policy: routed(workflow, inTurn),
      ...none,
      about: "Kairos with a model's replicas in turn: what its order is worth by itself.",
    },
    {
      name: "Kairos, oracle order",
      policy: routed({ kind: "stjf", agingThreshold }, packed),
      lengths: "oracle",
      confidence: "none",
      about: "Kairos with the program first that truly has the least left to write.",
    },
  ];
}
