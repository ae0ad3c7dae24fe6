import { driftedIn, driftReference, observeWindow, steadyState } from "@/solver/numeric/drift";
import { mean } from "@/solver/numeric/quantile";

/** Number of scores per judgement of drift; two consecutive ones that agree change the state. */
const WINDOW = 100;

/** Minimum number of live scores. */
export const LEAST_LIVE_SCORES = 2 * WINDOW;

/** Maximum number of scores compared, evenly spread: the effect of chance is estimated by drawing from them. */
const MOST_SCORES = 2000;

/** Mean scores. */
export interface ScoreDrift {
  readonly before: number;
  readonly now: number;
}

/**
 * Whether a judge's scores have drifted from those that its labels were made for, by the same test that compares live traffic with
 * a plan.
 *
 * @param planned scores of the profile. @param live scores since the labels, oldest first.
 * @returns null where they have not, or there are fewer than 200.
 */
export function scoreDrift(planned: readonly number[], live: readonly number[]): ScoreDrift | null {
  const windows = Math.floor(live.length / WINDOW);
  if (planned.length === 0 || live.length < LEAST_LIVE_SCORES) return null;
  const every = Math.max(1, planned.length / MOST_SCORES);
  const values = Array.from({ length: Math.floor(planned.length / every) }, (_, at) => planned[Math.floor(at * every)] ?? 0);
  // Rates are irrelevant here.
  const traffic = {
    requestsPerSecond: 1,
    arrivalSeconds: new Float64Array(),
    characteristics: [{ name: "score", kind: "score" as const, values }],
  };
  const reference = driftReference(traffic, 1);
  let state = steadyState(reference);
  for (let window = 0; window < windows; window += 1) {
    const scores = live.slice(window * WINDOW, (window + 1) * WINDOW);
    state = observeWindow(reference, state, { requests: WINDOW, seconds: WINDOW, samples: { score: scores } });
  }
  return driftedIn(state).includes("score") ? { before: mean(planned), now: mean(live.slice((windows - 2) * WINDOW)) } : null;
}
