/** Calls may be this early, so that timers of a millisecond sustain a high rate. */
const TOLERANCE_MS = 50;

/** Spaces calls evenly: in no minute more than asked, but for the few of `TOLERANCE_MS`. A leaky bucket that remembers when it is empty (GCRA). */
export class Pace {
  readonly #everyMs: number;
  #nextMs = Number.NEGATIVE_INFINITY;

  /** @param perMinute null: no limit. */
  constructor(perMinute: number | null) {
    this.#everyMs = perMinute === null ? 0 : 60_000 / perMinute;
  }

  /** Milliseconds until a call may be made; 0: now. */
  waitMs(nowMs: number): number {
    return Math.max(0, this.#nextMs - Math.min(TOLERANCE_MS, 10 * this.#everyMs) - nowMs);
  }

  made(nowMs: number): void {
    this.#nextMs = Math.max(this.#nextMs, nowMs) + this.#everyMs;
  }
}
