/** Most of each that a JSON text may hold. */
export interface JsonLimits {
  /** Lists and objects inside one another. */
  readonly depth: number;
  /** Lists, objects and texts, names of members included: each costs a parser some 0.2 µs. */
  readonly nodes: number;
  /** Commas: numbers in lists cost a tenth of that, and are no nodes. */
  readonly commas: number;
}

/** The limit that a text exceeds. */
export type JsonExcess = keyof JsonLimits;

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;

/**
 * Counts the structure of a JSON text while its bytes arrive, so that a text that would hold up its parser is refused before it is whole.
 * Of a text that is no JSON it counts at least as much as a parser reads before it gives up.
 */
export class JsonScan {
  readonly #limits: JsonLimits;
  #depth = 0;
  #nodes = 0;
  #commas = 0;
  #inText = false;
  /** Whether the last byte of a text so far is a backslash that escapes the next one. */
  #escapes = false;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  /** Counts the next bytes; returns the limit that the text exceeds, null if none yet. */
  push(bytes: Buffer): JsonExcess | null {
    const { depth: mostDepth, nodes: mostNodes, commas: mostCommas } = this.#limits;
    for (let at = 0; at < bytes.length; at += 1) {
      if (this.#inText) {
        at = this.#textEnd(bytes, at);
        continue;
      }
      const byte = bytes[at] as number;
      if (byte === quote) {
        this.#inText = true;
        this.#nodes += 1;
      } else if (byte === comma) this.#commas += 1;
      // "[" and "{" differ in one bit, as do "]" and "}".
      else if ((byte & 0xdf) === 0x5b) {
        this.#nodes += 1;
        this.#depth += 1;
        if (this.#depth > mostDepth) return "depth";
      } else if ((byte & 0xdf) === 0x5d) this.#depth -= 1;
    }
    if (this.#nodes > mostNodes) return "nodes";
    return this.#commas > mostCommas ? "commas" : null;
  }

  /** The place of the quote that ends the text which goes on at `from`; the length if it does not end in these bytes. */
  #textEnd(bytes: Buffer, from: number): number {
    let start = from;
    if (this.#escapes) {
      this.#escapes = false;
      start += 1;
    }
    for (;;) {
      const end = bytes.indexOf(quote, start);
      const stop = end < 0 ? bytes.length : end;
      let escapes = false;
      for (let before = stop - 1; before >= start && bytes[before] === backslash; before -= 1) escapes = !escapes;
      if (end < 0) {
        this.#escapes = escapes;
        return bytes.length;
      }
      if (!escapes) {
        this.#inText = false;
        return end;
      }
      start = end + 1;
    }
  }
}
