/** The part of a text that is compared with the reference. */
export type Extraction = "whole" | "last-line" | "number" | "choice" | "boxed";

/** A number with its unit of per cent kept apart: 50 % means 50 to some and 0.5 to others. */
export interface ReadNumber {
  readonly value: number;
  readonly percent: boolean;
  /** Its sign and digits where it is written as a whole number, which may have more digits than a floating-point value. */
  readonly integer: string | null;
}

/** Characters of a text: from the first to before the second. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

const leadIn = /^(?:#{2,}|[-=]*>|(?:so |therefore |thus |hence )?,?\s*(?:the |my )?(?:final )?answer(?:\s+is)?\s*[:=]?)\s*/i;

/** The last non-empty line, without `Answer:` or `####` before it, and marks around either. */
export function lastLine(text: string): string {
  const line = text.trimEnd().split("\n").at(-1)?.trim() ?? "";
  return unmarked(unmarked(line).replace(leadIn, ""));
}

/** Without stars, lines and blanks around it. */
function unmarked(line: string): string {
  let [from, to] = [0, line.length];
  while (from < to && /[*_\s]/.test(line[from] ?? "")) from += 1;
  while (to > from && /[*_\s]/.test(line[to - 1] ?? "")) to -= 1;
  return line.slice(from, to);
}

/** The content of the last `\boxed{…}`, including inner braces; null: there is no closed one. */
export function boxed(text: string): string | null {
  const range = boxedRange(text);
  return range === null ? null : text.slice(range.from, range.to);
}

function boxedRange(text: string): TextRange | null {
  /** Open braces: where a box's content begins, or -1 of any other brace. */
  const open: number[] = [];
  let last: TextRange | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\\") {
      const [begun] = /^\\boxed\s*\{/.exec(text.slice(at, at + 20)) ?? [];
      if (begun !== undefined) open.push(at + begun.length);
      // An escaped character opens and closes nothing; a line break's second backslash may begin a box.
      if (begun !== undefined) at += begun.length - 1;
      else if (text[at + 1] !== "\\") at += 1;
    } else if (character === "{") open.push(-1);
    else if (character === "}") {
      const from = open.pop() ?? -1;
      if (from > (last?.from ?? -1)) last = { from, to: at };
    }
  }
  return last;
}

const digits = String.raw`(?:\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?!\d)|\d+)?(?:(?<=\d)\.\d+|(?<!\d)\.\d+|(?<=\d))(?:e[-+]?\d+(?![\d.]))?`;
const signed = String.raw`(?:(?<![\w)\]}.,])[-+])?`;
const latexFraction = String.raw`\\[dt]?frac\s*\{\s*(-?\d+)\s*\}\s*\{\s*(\d+)\s*\}`;
const anyNumber = new RegExp(
  String.raw`(${signed})[$€£]?\s?(?:${latexFraction}|(?<![a-z\d_.])(${digits})(?:\s?/\s?(\d+(?:\.\d+)?))?)\s?(\\?%|percent\b|per cent\b)?`,
  "gi",
);

/** The last number of a text: with thousands separators, of per cent, or a fraction, in LaTeX too; null: there is none. */
export function lastNumber(text: string): ReadNumber | null {
  const plain = text.replace(/[−–]/g, "-").replace(/\{,\}|\\,(?=\d{3})/g, ",");
  const found = [...plain.matchAll(anyNumber)].at(-1);
  if (found === undefined) return null;
  const [, sign = "", over, under, number, divisor, percent] = found;
  const size = over === undefined ? numberOf(number ?? "") / numberOf(divisor ?? "1") : Number(over) / Number(under);
  if (!Number.isFinite(size)) return null;
  const bare = divisor === undefined ? (number ?? "").replace(/[,\u00a0\u202f]/g, "").replace(/^0+(?=\d)/, "") : "";
  const integer = /^\d+$/.test(bare) ? `${sign === "-" && bare !== "0" ? "-" : ""}${bare}` : null;
  return { value: sign === "-" ? -size : size, percent: percent !== undefined, integer };
}

const numberOf = (text: string): number => Number(text.replace(/[,\u00a0\u202f]/g, ""));

// Bounded, since two adjoining repetitions take quadratic time where a model repeats itself.
const marks = String.raw`[\s:*_("'[{$\\]{0,12}(?:boxed|text|textbf|mathrm)?[\s:*_("'[{$]{0,12}`;
const notAWord = String.raw`(?![\w'’])(?!\s+(?:think|believe|would|am|guess|choose|chose|have|know)\b)`;
const announced = new RegExp(
  String.raw`(?:[Aa]nswer|ANSWER|[Cc]hoice|[Oo]ption|[Cc]orrect (?:one|is))(?:\s{1,9}(?:is|would be))?${marks}([A-J])${notAWord}`,
  "g",
);
const alone = /^[\s(["'*_$]*([A-Ja-j])[\s)\]"'*_$.:,!]*$/;
const marked = /(?:^|[\s*_"'])\(?([A-J])[).:](?=[\s*_]|$)|\(([A-J])\)/gm;
const standing = /(?<![\w'’])([B-HJ])(?![\w'’])/g;

/** The letter from A to J that a text chooses, in the usual forms; null: none, or no single one. */
export function choice(text: string): string | null {
  const inBox = boxed(text);
  const bare = alone.exec(inBox ?? text) ?? alone.exec(lastLine(text));
  if (bare?.[1] !== undefined) return bare[1].toUpperCase();
  const said = [...text.matchAll(announced)].at(-1)?.[1];
  if (said !== undefined) return said;
  const letters = (all: RegExp, where: string): Set<string | undefined> =>
    new Set([...where.matchAll(all)].map(([, first, second]) => first ?? second));
  for (const found of [letters(marked, lastLine(text)), letters(marked, text), letters(standing, lastLine(text))]) {
    const [first] = found;
    if (first !== undefined) return found.size === 1 ? first : null;
  }
  return null;
}

/**
 * Where the part of a text that `extract` takes is: the last number, the letter that is chosen, the content of the last box, the last line;
 * null: there is none, or the whole text is compared. Of a number whose groups are separated by `{,}` the last group.
 */
export function answerRange(text: string, extract: Extraction): TextRange | null {
  if (extract === "number") {
    const found = [...text.replace(/[−–]/g, "-").matchAll(anyNumber)].at(-1);
    return found === undefined ? null : { from: found.index, to: found.index + found[0].length };
  }
  if (extract === "boxed") return boxedRange(text);
  if (extract === "choice") {
    const letter = choice(text);
    const last = (flags: string) => [...text.matchAll(new RegExp(`(?<![\\w'’])${letter}(?![\\w'’])`, flags))].at(-1);
    // A small letter is read only where the text is nothing else, so that an article is no choice.
    const found = letter === null ? undefined : (last("g") ?? last("gi"));
    return found === undefined ? null : { from: found.index, to: found.index + 1 };
  }
  const line = extract === "last-line" ? lastLine(text) : "";
  return line === "" ? null : { from: text.lastIndexOf(line), to: text.lastIndexOf(line) + line.length };
}

/** Whether a text has the part that `extract` takes; a whole text or a last line counts where it is not empty. */
export function hasAnswer(text: string, extract: Extraction): boolean {
  if (extract === "number") return lastNumber(text) !== null;
  if (extract === "choice") return choice(text) !== null;
  if (extract === "boxed") return boxed(text) !== null;
  return text.trim() !== "";
}
