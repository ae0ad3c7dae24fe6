/** Recent growth rate of a counter. */
export interface CounterRate {
  /**
   * Adds the counter's value read at `atMs`; null is a reading without it, for which there is no rate.
   *
   * @param series identifies the series in the sum; there is no rate between readings of different series.
   * @returns whether it fell while its series were the same, which counters do only at a restart.
   */
  take(atMs: number, value: number | null, series?: number): boolean;
  /** Growth per engine second over the window, never negative; null before two consecutive readings. */
  perSecond(): number | null;
}

export interface CounterRateOptions {
  /** Length of the window, not in engine time. */
  readonly windowMs: number;
  readonly timeScale: number;
}

/**
 * A counter read as differences. After a fall there is no rate until the next reading: it was reset, but in a sum of ranks perhaps only one
 * of them was, and the others' earlier counts are no growth. The earlier count of a rank that comes back, or is new, is no growth either.
 */
export function createCounterRate({ windowMs, timeScale }: CounterRateOptions): CounterRate {
  let steps: { readonly atMs: number; readonly wallMs: number; readonly growth: number }[] = [];
  let last: { readonly atMs: number; readonly value: number | null; readonly series: number } | null = null;
  return {
    take(atMs, value, series = 0) {
      const before = last?.series === series ? last.value : null;
      const fell = before !== null && value !== null && value < before;
      if (last !== null && before !== null && value !== null && !fell) {
        steps.push({ atMs, wallMs: atMs - last.atMs, growth: value - before });
      }
      steps = steps.filter((step) => step.atMs > atMs - windowMs);
      last = { atMs, value, series };
      return fell;
    },
    perSecond() {
      let [wallMs, growth] = [0, 0];
      for (const step of steps) {
        wallMs += step.wallMs;
        growth += step.growth;
      }
      return wallMs > 0 ? growth / ((wallMs / 1000) * timeScale) : null;
    },
  };
}
