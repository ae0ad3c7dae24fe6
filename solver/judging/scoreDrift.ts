import { driftedIn, driftReference, observeWindow, steadyState } from "@/solver/numeric/drift";
import { mean } from "@/solver/numeric/quantile";

/** Scores that a judgement of drift takes; two in a row that say so turn it. */
const WINDOW = 100;

/** Fewer live scores tell nothing. */
export const LEAST_LIVE_SCORES = 2 * WINDOW;

/** Scores compared at most, evenly spread: what chance shows is found by drawing from them. */
const MOST_SCORES = 2000;

/** Mean scores. */
export interface ScoreDrift {
  readonly before: number;
  readonly now: number;
}

/**
 * Whether a judge's scores have moved away from those that its labels were made for, by the test that live traffic is held against a
 * plan with.
 *
 * @param planned scores of the profile. @param live scores since the labels, oldest first.
 * @returns null where they have not, or fewer than 200 are there.
 */
export function scoreDrift(planned: readonly number[], live: readonly number[]): ScoreDrift | null {
  const windows = Math.floor(live.length / WINDOW);
  if (planned.length === 0 || live.length < LEAST_LIVE_SCORES) return null;
  const every = Math.max(1, planned.length / MOST_SCORES);
  const values = Array.from({ length: Math.floor(planned.length / every) }, (_, at) => planned[Math.floor(at * every)] ?? 0);
  // Rates are no matter here.
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
