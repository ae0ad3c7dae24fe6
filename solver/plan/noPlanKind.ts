/**
 * Why there is no plan.
 * - `overloaded`: no routing that may be chosen sustains the load.
 * - `constraints`: constraints conflict with one another, with the hardware, or with floor and budget.
 * - `quality-floor`, `latency-budget`, `floor-and-budget`: the objective's targets are out of reach.
 * - `no-room`: replicas do not fit the GPUs, or no way to place them was found in time.
 * - `malformed`: the request names something that does not exist, or contradicts itself.
 */
export const noPlanKinds = [
  "overloaded",
  "constraints",
  "quality-floor",
  "latency-budget",
  "floor-and-budget",
  "no-room",
  "malformed",
] as const;

export type NoPlanKind = (typeof noPlanKinds)[number];

const limits: Readonly<Record<NoPlanKind, string>> = {
  overloaded: "the load",
  constraints: "a constraint",
  "quality-floor": "the quality floor",
  "latency-budget": "the latency budget",
  "floor-and-budget": "floor and budget together",
  "no-room": "the room for replicas",
  malformed: "the request",
};

/** What refuses, in two or three words. */
export const limitName = (kind: NoPlanKind): string => limits[kind];
