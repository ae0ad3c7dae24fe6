/** How long an engine that refused fields is not asked for them again: it may have restarted with other settings. */
const againMs = 60_000;

/** Whether an engine takes fields that the gateway adds to requests, such as those for log probabilities. */
export class AddedFields {
  #againAtMs = Number.NEGATIVE_INFINITY;

  /** @param nowMs on the clock of `performance.now()`. */
  areTaken(nowMs: number): boolean {
    return nowMs >= this.#againAtMs;
  }

  /** The engine refused a request with the fields and took the same request without. */
  refused(nowMs: number): void {
    this.#againAtMs = nowMs + againMs;
  }

  /** The engine may have restarted. */
  forget(): void {
    this.#againAtMs = Number.NEGATIVE_INFINITY;
  }
}
