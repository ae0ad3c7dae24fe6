import { measured } from "@/solver/judging/exactMatch";
import { lastNumber, type ReadNumber } from "@/solver/judging/extract";
import { normalised } from "@/solver/judging/normalised";

/** Digits in which different numbers differ: thirds are written with any number of digits. */
const DIGITS = 9;

/** Below this every whole number has an exact value. */
const EXACT = Number.MAX_SAFE_INTEGER;

/** A short fraction of LaTeX without braces. */
const bareFraction = /\\[dt]?frac(\d)(\d)(?!\d)/g;
const latexFraction = /^(-?)\\frac\{(-?\d+)\}\{(\d+)\}$/;

/**
 * One text for all ways to write an answer, so that equal answers are equal strings: case, blanks, marks and LaTeX markup are left out, and
 * a number, with or without a unit behind it, is written in one way. Per cent is kept apart: 50 % is 50 to some and 0.5 to others.
 *
 * @returns an empty text where nothing is left.
 */
export function canonicalText(text: string): string {
  let canonical = text;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const next = withoutMarkup(canonical);
    if (next === canonical) break;
    canonical = next;
  }
  return canonical;
}

/** A mark that is left out may join what stood beside it into other markup: `\" 0` becomes `\ 0`, a LaTeX blank. */
const MOST_ROUNDS = 5;

function withoutMarkup(text: string): string {
  const plain = normalised(text.replaceAll("\\%", "%").replace(bareFraction, "\\frac{$1}{$2}"));
  const fraction = latexFraction.exec(plain);
  const [, amount, unit = ""] = measured.exec(plain) ?? [];
  const read = fraction === null && amount === undefined ? null : lastNumber(amount ?? plain);
  return read === null ? plain : `${canonicalNumber(read)}${unit}`;
}

/** A number in canonical form: 1,000 and 1e3 as `1000`, a half as `0.5`, 50 % as `50%`. */
export function canonicalNumber({ value, percent, integer }: ReadNumber): string {
  return `${integer ?? writtenNumber(value)}${percent ? "%" : ""}`;
}

function writtenNumber(value: number): string {
  // Whole numbers keep all of their digits, as `integer` does: rounding would make different numbers equal.
  if (Number.isInteger(value) && Math.abs(value) <= EXACT) return String(value === 0 ? 0 : value);
  const rounded = Number(value.toPrecision(DIGITS));
  return Number.isInteger(rounded) ? BigInt(rounded).toString() : String(rounded);
}
