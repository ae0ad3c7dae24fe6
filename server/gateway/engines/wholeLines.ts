const lineFeed = 0x0a;
const nothing = Buffer.alloc(0);

/** Cuts a stream at line ends, so that the client never gets half an event. */
export class WholeLines {
  /** The line that has not ended, as it came. */
  #begun: Buffer[] = [];

  /** The bytes that end a line by now, those held back before among them; empty where none does. */
  feed(chunk: Buffer): Buffer {
    const end = chunk.lastIndexOf(lineFeed) + 1;
    const before = this.#begun;
    if (end === 0) {
      before.push(chunk);
      return nothing;
    }
    const whole = end === chunk.length ? chunk : chunk.subarray(0, end);
    this.#begun = end === chunk.length ? [] : [chunk.subarray(end)];
    return before.length === 0 ? whole : Buffer.concat([...before, whole]);
  }

  /** The line that has not ended. */
  get rest(): Buffer {
    return Buffer.concat(this.#begun);
  }
}
