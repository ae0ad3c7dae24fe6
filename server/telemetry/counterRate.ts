/** How fast a counter grew lately. */
export interface CounterRate {
  /**
   * Takes the counter's value as read at `atMs`; null is a reading without it, over which nothing is said.
   *
   * @param series tells which series the value was added up of; between readings of other series nothing is said.
   * @returns whether it fell while its series were the same, which counters do only when they begin anew.
   */
  take(atMs: number, value: number | null, series?: number): boolean;
  /** Growth in an engine second over the window, never negative; null before two readings in a row. */
  perSecond(): number | null;
}

export interface CounterRateOptions {
  /** Looked back over, not in engine time. */
  readonly windowMs: number;
  readonly timeScale: number;
}

/**
 * A counter read as differences. Over one that fell nothing is said until the next reading: it was reset, but where it is a sum
 * of ranks perhaps only one of them was, and what the others had long counted is no growth. Nor is what a rank had counted that comes
 * back, or is new.
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
