import { boxed, choice, type Extraction, lastLine, lastNumber, type ReadNumber } from "./extract";
import { normalised } from "./normalised";

/** Numbers that differ by less are equal: thirds are written with any number of digits, down to this. */
const TOLERANCE = 1e-9;

/**
 * Whether an answer equals the reference: 100 or 0, after `extract` took the relevant part from both and differences without meaning were
 * removed. An answer without a required number, letter or box is wrong; a reference without one counts as a whole.
 */
export function exactMatch(answer: string, reference: string, extract: Extraction): 0 | 100 {
  return isSame(answer, reference, extract) ? 100 : 0;
}

function isSame(answer: string, reference: string, extract: Extraction): boolean {
  if (extract === "number") {
    const [given, right] = [lastNumber(answer), lastNumber(reference)];
    return given !== null && right !== null && isSameNumber(given, right);
  }
  if (extract === "choice") {
    const given = choice(answer);
    return given !== null && given === (choice(reference) ?? reference.trim().toUpperCase());
  }
  if (extract === "boxed") {
    const given = boxed(answer);
    return given !== null && isSameText(given, boxed(reference) ?? reference);
  }
  return extract === "last-line" ? isSameText(lastLine(answer), lastLine(reference)) : isSameText(answer, reference);
}

function isSameText(answer: string, reference: string): boolean {
  const [given, right] = [normalised(answer), normalised(reference)];
  if (given === right) return given !== "" || answer.trim() === reference.trim();
  const [a, b] = [measured.exec(given), measured.exec(right)];
  return a !== null && b !== null && a[2] === b[2] && isSame(a[1] ?? "", b[1] ?? "", "number");
}

/** For a normalised text: a number and no other, with its unit behind it. In `version 1.10` a zero matters. */
export const measured = /^([-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:\/\d+(?:\.\d+)?)?%?)([^\d]*)$/;

function isSameNumber(a: ReadNumber, b: ReadNumber): boolean {
  if (a.percent === b.percent && a.integer !== null && b.integer !== null) return a.integer === b.integer;
  if (isNear(a.value, b.value)) return true;
  if (a.percent === b.percent) return false;
  return a.percent ? isNear(a.value / 100, b.value) : isNear(a.value, b.value / 100);
}

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(a), Math.abs(b));
