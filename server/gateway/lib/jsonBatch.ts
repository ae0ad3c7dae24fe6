/** JSON texts one after the other, outside the heap. */
export class JsonBatch {
  readonly #bytes: Buffer;
  /** Where each value ends; a comma follows. */
  readonly #ends: Uint32Array;

  /** @param texts of objects. */
  constructor(texts: readonly string[]) {
    const joined = texts.join(",");
    const byteLength = Buffer.byteLength(joined);
    const isAscii = byteLength === joined.length;
    // The same bytes, copied instead of encoded.
    this.#bytes = Buffer.from(joined, isAscii ? "latin1" : "utf8");
    this.#ends = new Uint32Array(texts.length);
    let end = -1;
    for (const [at, text] of texts.entries()) {
      end += 1 + (isAscii ? text.length : Buffer.byteLength(text));
      this.#ends[at] = end;
    }
  }

  /** The JSON of the values from a position up to another, separated by commas. */
  slice(from: number, to: number): string {
    return this.#bytes.toString("utf8", this.#startOf(from), this.#ends[Math.min(to, this.#ends.length) - 1]);
  }

  /** The JSON of the first value with a member of this name and text; undefined if there is none. */
  find(member: string, text: string): string | undefined {
    // Inside a string its quotes would be escaped.
    const at = this.#bytes.indexOf(`${JSON.stringify(member)}:${JSON.stringify(text)}`);
    if (at < 0) return undefined;
    const index = this.#ends.findIndex((end) => end > at);
    return this.slice(index, index + 1);
  }

  #startOf(index: number): number {
    return index === 0 ? 0 : (this.#ends[index - 1] ?? 0) + 1;
  }
}
