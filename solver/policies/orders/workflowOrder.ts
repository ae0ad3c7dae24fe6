import type { Order, Preference } from "../core/policyParts";

type Aging = Pick<Preference, "agingThreshold">;

/** Keys go to engines as priorities, which are whole numbers: milliseconds, and thousandths of a call. */
const KEYS_A_UNIT = 1000;

/**
 * Distances within a step of this ratio count as one, and so do calls within a quarter. Work keeps the forecast that it came with while what is
 * learnt goes on, so that without steps requests of one agent would go by when its figures happened to be lower, however early their programs
 * began.
 */
const DISTANCE_STEP = 1.25;
const CALLS_STEP = 0.25;

/** The step of distance, in seconds, that orders agents: those of one step count as one. */
export const steppedDistance = (seconds: number): number =>
  seconds > 0 ? DISTANCE_STEP ** Math.round(Math.log(seconds) / Math.log(DISTANCE_STEP)) : 0;

/**
 * The agent whose programs end soonest first, by its distance from no remaining latency at all; within an agent, and between agents in one place,
 * the program that began first (Kairos, section 5). Keys are whole milliseconds, in steps of a quarter. Work without a forecast has key 0 and goes before what is known
 * to take time: something is learnt of it the sooner.
 */
export function workflowOrder({ agingThreshold }: Aging): Order {
  return {
    kind: "workflow",
    needs: ["workflows", "identifiers"],
    preference: {
      key: ({ forecast }) => Math.round(KEYS_A_UNIT * steppedDistance(forecast?.distanceSeconds ?? 0)),
      thenBy: ({ programArrivalSeconds }) => programArrivalSeconds,
      agingThreshold,
    },
  };
}

/**
 * The program with the fewest calls yet to make first, equal ones in the order of coming (Ayo, as Kairos compares itself with it, section 7.1).
 * Calls are counted along the longest way to the end of the program, the mean over earlier programs, so keys are thousandths of a call, in steps of a quarter. Work
 * without a forecast has key 0.
 */
export function depthOrder({ agingThreshold }: Aging): Order {
  return {
    kind: "depth",
    needs: ["workflows", "identifiers"],
    preference: {
      key: ({ forecast }) => KEYS_A_UNIT * CALLS_STEP * Math.round((forecast?.remainingCalls ?? 0) / CALLS_STEP),
      agingThreshold,
    },
  };
}
