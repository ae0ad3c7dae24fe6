const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;

/** The position of a member's value in the bytes of a JSON object. */
export interface MemberSpan {
  readonly from: number;
  /** The first byte after it. */
  readonly to: number;
}

/**
 * Finds a member of a JSON object, so that its value can be replaced without writing the rest anew, which keeps its bytes and the digits of
 * its numbers.
 *
 * @param json valid, an object.
 * @param members the number of different members that a parser found.
 * @returns null where the member does not occur, or where parsers may not agree on it: the object names a member twice, or by escapes.
 */
export function memberSpan(json: Buffer, name: string, members: number): MemberSpan | null {
  let depth = 0;
  let found: MemberSpan | null = null;
  let count = 0;
  let isKey = false;
  let isNamed = false;
  let from = -1;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] as number;
    if (byte === quote) {
      const end = textEnd(json, at + 1);
      if (isKey) {
        const key = json.toString("latin1", at + 1, end);
        if (key.includes("\\")) return null;
        isNamed = key === name;
        isKey = false;
        count += 1;
      }
      at = end;
    } else if (byte === colon) {
      if (depth === 1 && isNamed) from = at + 1;
    } else if (byte === comma) {
      if (depth !== 1) continue;
      if (isNamed) found = { from, to: at };
      isKey = true;
      isNamed = false;
      // "[" and "{" differ in one bit, as do "]" and "}".
    } else if ((byte & 0xdf) === 0x5b) {
      depth += 1;
      isKey = depth === 1;
    } else if ((byte & 0xdf) === 0x5d) {
      depth -= 1;
      if (depth === 0 && isNamed) found = { from, to: at };
    }
  }
  return count === members ? found : null;
}

/** The place of the quote that ends the text which begins at `from`. */
function textEnd(json: Buffer, from: number): number {
  for (let start = from; ; ) {
    const end = json.indexOf(quote, start);
    if (end < 0) return json.length;
    let escapes = 0;
    while (json[end - 1 - escapes] === backslash && end - 1 - escapes >= from) escapes += 1;
    if (escapes % 2 === 0) return end;
    start = end + 1;
  }
}
