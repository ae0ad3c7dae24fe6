const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const nothing = Buffer.alloc(0);

/** Cuts a stream at line ends (LF, CRLF or CR), so that the client never gets half an event. */
export class WholeLines {
  /** The unfinished line, as received. */
  #begun: Buffer[] = [];
  /** The last byte was a carriage return, which may be half of a CRLF. */
  #isHalfEnd = false;
  /** Lines of this stream end in CR alone. */
  #endsInReturns = false;

  /** The bytes up to the last complete line end, including those held back before; empty if there is none. */
  feed(chunk: Buffer): Buffer {
    if (chunk.length === 0) return nothing;
    const ended = this.#isHalfEnd && chunk[0] !== lineFeed;
    const end = this.#endOf(chunk, ended);
    const before = this.#begun;
    this.#isHalfEnd = end < chunk.length && chunk[chunk.length - 1] === carriageReturn;
    if (end === 0 && !ended) {
      before.push(chunk);
      return nothing;
    }
    const whole = end === chunk.length ? chunk : chunk.subarray(0, end);
    this.#begun = end === chunk.length ? [] : [chunk.subarray(end)];
    return before.length === 0 ? whole : Buffer.concat([...before, whole]);
  }

  /**
   * Position after the last line end in a chunk; 0: there is none.
   * @param ended the line before it ended in CR.
   */
  #endOf(chunk: Buffer, ended: boolean): number {
    const last = chunk.length - 1;
    // The last byte may be half of a CRLF, so the search is for a CR before it.
    const lone = last === 0 ? -1 : chunk.lastIndexOf(carriageReturn, last - 1);
    if (ended || (lone >= 0 && chunk[lone + 1] !== lineFeed)) this.#endsInReturns = true;
    if (this.#endsInReturns && chunk[last] === carriageReturn) return chunk.length;
    const feed = chunk.lastIndexOf(lineFeed);
    return 1 + Math.max(feed, lone >= 0 && chunk[lone + 1] !== lineFeed ? lone : -1);
  }

  /** The unfinished line. */
  get rest(): Buffer {
    return Buffer.concat(this.#begun);
  }
}
