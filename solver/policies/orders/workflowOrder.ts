import type { Order, Preference } from "../core/policyParts";

type Aging = Pick<Preference, "agingThreshold">;

/** Keys go to engines as priorities, which are whole numbers: milliseconds, or thousandths of a call. */
const KEYS_A_UNIT = 1000;

/**
 * Distances within a step of this ratio count as equal, and so do calls within a quarter. Work keeps the forecast of its arrival while
 * learning continues, so that without steps the order of one agent's requests would follow fluctuations of its figures, not the start of
 * their programs.
 */
const DISTANCE_STEP = 1.25;
const CALLS_STEP = 0.25;

/** The step of distance, in seconds, that orders agents: those in the same step count as equal. */
export const steppedDistance = (seconds: number): number =>
  seconds > 0 ? DISTANCE_STEP ** Math.round(Math.log(seconds) / Math.log(DISTANCE_STEP)) : 0;

/**
 * First the agent whose programs end soonest, by its distance from a remaining latency of zero; within an agent, and between agents in the
 * same step, the program that began first (Kairos, section 5). Keys are whole milliseconds, in steps of a quarter. Work without a forecast
 * has key 0 and goes before work that is known to take time, so that its agent is learnt sooner.
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
 * First the program with the fewest calls yet to make, equal ones in order of arrival (Ayo, as Kairos compares itself with it, section
 * 7.1). Calls are counted along the longest path to the end of the program, the mean over earlier programs, so keys are thousandths of a
 * call, in steps of a quarter. Work without a forecast has key 0.
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
