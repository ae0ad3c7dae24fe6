/**
 * A run of decode steps in closed form. Each step takes `base + c * K`, and K, the cached tokens read, grows by n sequences a
 * step, so m steps take `m * (base + c * K) + c * n * m * (m - 1) / 2`.
 */
export class DecodeSpan {
  startSeconds = 0;
  /** Seconds of the first step. */
  firstSeconds = 0;
  /** Increase in seconds from each step to the next. */
  growthSeconds = 0;

  /** Growth never exceeds the first step: every sequence holds at least the token that its step computes. */
  begin(startSeconds: number, firstSeconds: number, growthSeconds: number): void {
    this.startSeconds = startSeconds;
    this.firstSeconds = firstSeconds;
    this.growthSeconds = growthSeconds;
  }

  /** Time at which `steps` steps are done. */
  endSeconds(steps: number): number {
    return this.startSeconds + steps * this.firstSeconds + (this.growthSeconds * steps * (steps - 1)) / 2;
  }

  /** Smallest number of steps, at least one, that end at or after a time. */
  stepsReaching(seconds: number): number {
    let steps = Math.max(1, Math.ceil(this.root(seconds)));
    // The root is exact up to rounding; compare with endSeconds itself, which decides when events happen.
    while (steps > 1 && this.endSeconds(steps - 1) >= seconds) steps--;
    while (this.endSeconds(steps) < seconds) steps++;
    return steps;
  }

  /** Largest number of steps that end at or before a time. */
  stepsDoneBy(seconds: number): number {
    if (seconds < this.endSeconds(1)) return 0;
    const steps = this.stepsReaching(seconds);
    return this.endSeconds(steps) > seconds ? steps - 1 : steps;
  }

  /** Positive solution m of `elapsed = first * m + growth * m * (m - 1) / 2`, in the form without cancellation. */
  private root(seconds: number): number {
    const elapsed = seconds - this.startSeconds;
    if (elapsed <= 0) return 0;
    const linear = this.firstSeconds - this.growthSeconds / 2;
    return (2 * elapsed) / (linear + Math.sqrt(linear * linear + 2 * this.growthSeconds * elapsed));
  }
}
