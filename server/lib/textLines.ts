import { isUtf8 } from "node:buffer";

/** A line of a file, counted from 1: its text, or why it cannot be read. */
export type TextLine = { readonly line: number; readonly text: string } | { readonly line: number; readonly problem: string };

/** The gateway takes no longer request either. Also bounds the memory of reading. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Lines of a file of any size, as many at a time as came together, however they are cut. Both ways of ending a line are taken, a byte order
 * mark is left out, and unless they are wanted as they are so are empty lines and blanks at either end. A line of over 8 MB is passed over
 * without being held.
 */
export async function* textLines(
  chunks: AsyncIterable<Buffer>,
  blanks: "left out" | "as they are" = "left out",
): AsyncGenerator<readonly TextLine[]> {
  let line = 0;
  let begun: Buffer[] = [];
  let begunBytes = 0;

  function end(): TextLine | null {
    line += 1;
    const [only] = begun;
    const bytes = begun.length === 1 && only !== undefined ? only : Buffer.concat(begun);
    const isTooLong = begunBytes > MAX_LINE_BYTES;
    begun = [];
    begunBytes = 0;
    return isTooLong ? { line, problem: "it is longer than 8 MB" } : readLine(bytes, line, blanks === "as they are");
  }
  function add(part: Buffer): void {
    begunBytes += part.length;
    if (begunBytes > MAX_LINE_BYTES) begun = [];
    else if (part.length > 0) begun.push(part);
  }

  for await (const chunk of chunks) {
    const lines: TextLine[] = [];
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, at));
      const ended = end();
      if (ended !== null) lines.push(ended);
      from = at + 1;
    }
    // A copy: what is left of a chunk would keep all of it.
    add(Buffer.from(chunk.subarray(from)));
    if (lines.length > 0) yield lines;
  }
  const last = begunBytes === 0 ? null : end();
  if (last !== null) yield [last];
}

/** null: it is empty, and not wanted as it is. */
function readLine(bytes: Buffer, line: number, isWhole: boolean): TextLine | null {
  const hasMark = line === 1 && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const bare = bytes.subarray(hasMark ? BYTE_ORDER_MARK.length : 0, bytes.at(-1) === RETURN ? -1 : undefined);
  if (!isUtf8(bare) || bare.includes(0)) return { line, problem: "it is not text in UTF-8" };
  const text = isWhole ? bare.toString() : bare.toString().trim();
  return text === "" && !isWhole ? null : { line, text };
}
