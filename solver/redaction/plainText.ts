/** Possible other encodings of a plain character. `%40` is an @ in addresses, `\u0040` one in JSON inside other text. */
const odd =
  /\\{1,4}u[0-9a-fA-F]{4}|%40|(?![\0-\x7f])(?:\p{Changes_When_NFKC_Casefolded}|\p{Dash}|\p{White_Space}|\p{Default_Ignorable_Code_Point}|\p{Nd})/gu;

/** A text in the form that rules read, and the position of each of its characters in the original text. */
export interface PlainText {
  readonly plain: string;
  /** Positions in the original text for a stretch of the plain one, from the first character up to and excluding `to`. */
  placeOf(from: number, to: number): { readonly from: number; readonly to: number };
}

/**
 * Reads unusual blanks, dashes, digits, wide letters and escapes as the plain characters they represent (compatibility forms by NFKC, one
 * by one) and removes invisible characters, so that a rule finds an address however it is written. The text itself is unchanged: a match is
 * removed from it by its position there, and a character that is read as several is removed as a whole.
 */
export function plainText(text: string): PlainText {
  const known = new Map<string, string>();
  /**
   * Where a change begins in the plain text and how long it is there, and its position in the original text; between changes both have
   * equal lengths.
   */
  const changes: { readonly at: number; readonly length: number; readonly from: number; readonly to: number }[] = [];
  let longer = 0;
  const plain = text.replace(odd, (found: string, from: number) => {
    const read = known.get(found) ?? plainOf(found);
    known.set(found, read);
    if (read === found) return found;
    changes.push({ at: from + longer, length: read.length, from, to: from + found.length });
    longer += read.length - found.length;
    return read;
  });
  /** The last change that begins at or before a position. */
  const changeAt = (place: number): (typeof changes)[number] | undefined => {
    let [low, high] = [0, changes.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((changes[middle]?.at ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    return changes[low - 1];
  };
  const spanOf = (place: number): { readonly from: number; readonly to: number } => {
    const change = changeAt(place);
    if (change === undefined) return { from: place, to: place + 1 };
    if (place < change.at + change.length) return change;
    const from = change.to + place - change.at - change.length;
    return { from, to: from + 1 };
  };
  return { plain, placeOf: (from, to) => ({ from: spanOf(from).from, to: spanOf(to - 1).to }) };
}

function plainOf(found: string): string {
  if (found === "%40") return "@";
  if (found.startsWith("\\")) {
    const character = String.fromCharCode(Number.parseInt(found.slice(-4), 16));
    return character < " " || character === "\\" ? found : plainOf(character);
  }
  if (/\p{White_Space}/u.test(found)) return " ";
  if (/\p{Dash}/u.test(found)) return "-";
  if (/\p{Default_Ignorable_Code_Point}/u.test(found)) return "";
  const folded = found.normalize("NFKC");
  if (/^\p{Nd}$/u.test(folded) && folded > "9") return digitOf(folded);
  // A whole phrase in one character is no part of an address, and a text of them would grow to many times its length.
  return folded.length <= 3 ? folded : found;
}

/** Digits of a script are consecutive from its 0 on (Unicode, section 4.6). */
function digitOf(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((code - zero) % 10);
}
