import { StringDecoder } from "node:string_decoder";

/** A line of a file, counted from 1, without its end. */
export interface TextLine {
  readonly line: number;
  /** null: it is longer than may be; what there is of it was passed over. */
  readonly text: string | null;
}

/** Lines of a UTF-8 stream of any size, held one at a time. Empty ones are counted and left out; a mark of byte order is too. */
export async function* readLines(stream: AsyncIterable<Uint8Array | string>, mostCharacters: number): AsyncGenerator<TextLine> {
  const decoder = new StringDecoder("utf8");
  let line = 1;
  let rest = "";
  let tooLong = false;
  const whole = (end: string): TextLine | null => {
    const text = (rest + end).replace(/^\uFEFF/, "").replace(/\r$/, "");
    const read = tooLong || text.length > mostCharacters ? { line, text: null } : text.trim() === "" ? null : { line, text };
    rest = "";
    tooLong = false;
    line += 1;
    return read;
  };
  for await (const chunk of stream) {
    const text = typeof chunk === "string" ? chunk : decoder.write(Buffer.from(chunk));
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      const read = whole(text.slice(from, end));
      if (read !== null) yield read;
      from = end + 1;
    }
    rest += text.slice(from);
    if (rest.length > mostCharacters + 1) {
      tooLong = true;
      rest = "";
    }
  }
  const last = whole(decoder.end());
  if (last !== null) yield last;
}
