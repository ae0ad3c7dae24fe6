/** How long an engine that refused fields is not asked for them again: it may have restarted with other settings. */
const againMs = 60_000;

/** Whether an engine takes fields that the gateway adds to requests, such as those for log probabilities. */
export class AddedFields {
  #againAtMs = Number.NEGATIVE_INFINITY;
  #areKnown = false;

  /** @param nowMs on the clock of `performance.now()`. */
  areTaken(nowMs: number): boolean {
    return nowMs >= this.#againAtMs;
  }

  /** Whether the engine has answered a request with the fields, so that it refuses others for another reason. */
  get areKnown(): boolean {
    return this.#areKnown;
  }

  /** The engine answered a request with the fields. */
  answered(): void {
    this.#areKnown = true;
  }

  /** The engine refused a request with the fields and took the same request without. */
  refused(nowMs: number): void {
    this.#againAtMs = nowMs + againMs;
  }

  /** The engine may have restarted. */
  forget(): void {
    this.#areKnown = false;
    this.#againAtMs = Number.NEGATIVE_INFINITY;
  }
}
