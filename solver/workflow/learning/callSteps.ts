/** When a call came, and when the last of what hangs on it ended. */
export interface Extents {
  readonly fromSeconds: Float64Array;
  readonly untilSeconds: Float64Array;
}

export interface CallSteps {
  /** One after another; the calls of a step are side by side. */
  readonly steps: readonly (readonly number[])[];
  /** Steps that begin within the clock's resolution of the end of what was before them: they may have been side by side with it. */
  readonly ties: number;
}

/**
 * Tells calls side by side from those one after another by a sweep over their extents (Kairos, section 4.2): a call that comes before all of the step
 * so far is over is side by side with it. Where the two touch within the clock's resolution nobody can tell: they count as one after another.
 *
 * @param calls in the order in which they came.
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
