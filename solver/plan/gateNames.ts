import type { ComparedGate, PlannedGateKind } from "./planGates";

const names: Readonly<Record<PlannedGateKind, string>> = {
  judge: "judge",
  confidence: "confidence",
  agreement: "agreement",
  scorer: "scorer",
  sequence: "confidence, then the judge",
};

/** A compared gate in words; a judge whose scores are modelled is called so. */
export const plannedGateName = ({ kind, modelled }: Pick<ComparedGate, "kind" | "modelled">): string =>
  modelled ? `${names[kind]} (modelled)` : names[kind];

const reasons: Readonly<Record<NonNullable<ComparedGate["noPlan"]>, string>> = {
  overloaded: "no cascade with it sustains the load",
  constraints: "the constraints conflict",
  "quality-floor": "no cascade with it reaches the floor",
  "latency-budget": "no cascade with it keeps the latency budget",
  "floor-and-budget": "no cascade with it keeps floor and budget",
  "no-room": "its replicas have no room",
  malformed: "it cannot be planned here",
};

/** Why a gate gives no plan, in words. */
export const noGatePlanText = (kind: NonNullable<ComparedGate["noPlan"]>): string => reasons[kind];
