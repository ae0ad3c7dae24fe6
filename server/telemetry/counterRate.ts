/** How fast a counter grew lately. */
export interface CounterRate {
  /** Takes the counter's value as read at `atMs`; null is a reading without it, over which nothing is said. */
  take(atMs: number, value: number | null): void;
  /** Growth in an engine second over the window; null before two readings in a row. */
  perSecond(): number | null;
}

export interface CounterRateOptions {
  /** Wall time looked back over. */
  readonly windowMs: number;
  readonly timeScale: number;
}

/** A counter read as differences: one that fell was reset by a restart, and all it shows grew since. */
export function createCounterRate({ windowMs, timeScale }: CounterRateOptions): CounterRate {
  let steps: { readonly atMs: number; readonly wallMs: number; readonly growth: number }[] = [];
  let last: { readonly atMs: number; readonly value: number | null } | null = null;
  return {
    take(atMs, value) {
      if (last !== null && last.value !== null && value !== null) {
        steps.push({ atMs, wallMs: atMs - last.atMs, growth: value >= last.value ? value - last.value : value });
      }
      steps = steps.filter((step) => step.atMs > atMs - windowMs);
      last = { atMs, value };
    },
    perSecond() {
      const seconds = (steps.reduce((sum, step) => sum + step.wallMs, 0) / 1000) * timeScale;
      return seconds > 0 ? steps.reduce((sum, step) => sum + step.growth, 0) / seconds : null;
    },
  };
}
