import type { Order, Preference } from "../core/policyParts";

type Aging = Pick<Preference, "agingThreshold">;

/** Keys go to engines as priorities, which are whole numbers: milliseconds, or thousandths of a call. */
const KEYS_A_UNIT = 1000;

/** Calls within a quarter count as equal: means of few programs differ by less. */
const CALLS_STEP = 0.25;

/**
 * First the agent whose programs end soonest, by its distance from a remaining latency of zero; within an agent the program that began
 * first, so that among the calls of one agent those go first whose programs have waited longest (Kairos, section 5). Keys are milliseconds
 * of the forecast in force: a driver replaces forecasts of waiting work as more is learnt, and the order follows. Work without a forecast,
 * or of an agent that has no distance yet, has key 0 and goes before work that is known to take time, so that its agent is learnt sooner.
 */
export function workflowOrder({ agingThreshold }: Aging): Order {
  return {
    kind: "workflow",
    needs: ["workflows", "identifiers"],
    preference: {
      key: ({ forecast }) => KEYS_A_UNIT * (forecast?.distanceSeconds ?? 0),
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
