/** How long what is shown is kept where nothing has changed; and where it is long, which takes a while to make, whatever has. */
const keptMs = 2_000;
const longCharacters = 512 * 1024;

/** A document that is shown to whoever asks, as often as they like: made anew only where it would tell something new. */
export class KeptView {
  /** Made at a moment of `performance.now()`. */
  #kept: { readonly json: string; readonly madeMs: number } | null = null;
  #changed = false;

  /** What it is of has changed. */
  change(): void {
    this.#changed = true;
  }

  /** It is of something else from now on. */
  drop(): void {
    this.#kept = null;
  }

  /** Gives up what is too old to be shown. */
  tidy(nowMs: number): void {
    if (this.#kept !== null && nowMs - this.#kept.madeMs >= keptMs) this.drop();
  }

  /** @param make what is to be shown as JSON, where what is kept will not do. */
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
