/** Enough for a rate that is right to some ten percent, and few enough to follow a change within seconds. */
const remembered = 64;

/** How fast a model's engines answer, from when the last requests were done. */
export class ServiceRate {
  readonly #doneMs: number[] = [];

  /** A request is done. */
  done(nowMs: number): void {
    this.#doneMs.push(nowMs);
    if (this.#doneMs.length > remembered) this.#doneMs.shift();
  }

  /** Requests per wall second, falling while none is done; null before the second. */
  perSecond(nowMs: number): number | null {
    const [first] = this.#doneMs;
    if (first === undefined || this.#doneMs.length < 2) return null;
    return ((this.#doneMs.length - 1) * 1000) / Math.max(1, nowMs - first);
  }
}
