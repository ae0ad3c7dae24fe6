/** When a call arrived, and when the last call that depends on it ended. */
export interface Extents {
  readonly fromSeconds: Float64Array;
  readonly untilSeconds: Float64Array;
}

export interface CallSteps {
  /** Sequential steps; the calls of a step are parallel. */
  readonly steps: readonly (readonly number[])[];
  /** Steps that begin within the clock's resolution of the end of the previous step: they may have been parallel with it. */
  readonly ties: number;
}

/**
 * Separates parallel from sequential calls by a sweep over their extents (Kairos, section 4.2): a call that arrives before all of the
 * current step has ended is parallel with it. Where the two touch within the clock's resolution the order is unknown: they count as
 * sequential.
 *
 * @param calls in the order of arrival.
 */
export function callSteps(calls: readonly number[], { fromSeconds, untilSeconds }: Extents, resolutionSeconds: number): CallSteps {
  const steps: number[][] = [];
  let ties = 0;
  let step: number[] = [];
  let overSeconds = Number.NEGATIVE_INFINITY;
  for (const call of calls) {
    const gapSeconds = (fromSeconds[call] ?? 0) - overSeconds;
    if (gapSeconds >= -resolutionSeconds) {
      if (gapSeconds <= resolutionSeconds) ties += 1;
      step = [];
      steps.push(step);
      overSeconds = Number.NEGATIVE_INFINITY;
    }
    step.push(call);
    overSeconds = Math.max(overSeconds, untilSeconds[call] ?? 0);
  }
  return { steps, ties };
}
