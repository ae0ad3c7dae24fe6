/** Time for which an unchanged document is kept; a long one, which takes a while to make, is kept for this time even after a change. */
const keptMs = 2_000;
const longCharacters = 512 * 1024;

/** A document that is read often: it is rebuilt only after a change. */
export class CachedView {
  /** Made at a moment of `performance.now()`. */
  #kept: { readonly json: string; readonly madeMs: number } | null = null;
  #changed = false;

  /** Call this when its subject has changed. */
  change(): void {
    this.#changed = true;
  }

  /** Call this when it has another subject from now on. */
  drop(): void {
    this.#kept = null;
  }

  /** Drops the document if it is too old. */
  tidy(nowMs: number): void {
    if (this.#kept !== null && nowMs - this.#kept.madeMs >= keptMs) this.drop();
  }

  /** @param make builds the document if the cached one is out of date. */
  json(make: () => unknown): string {
    const madeMs = performance.now();
    this.tidy(madeMs);
    if (this.#kept !== null && (!this.#changed || this.#kept.json.length > longCharacters)) return this.#kept.json;
    const json = JSON.stringify(make());
    this.#kept = { json, madeMs };
    this.#changed = false;
    return json;
  }
}
