/**
 * Number formats of the whole studio: tabular, with a non-breaking space before the unit, locale-free on purpose so that copies are
 * comparable.
 */

const NBSP = "\u00a0";

/** What is shown where a value is absent. Never a zero. */
export const ABSENT = "–";

/** Rounding of the last digit: a lower bound must not be overstated, an upper one not understated. */
type Rounding = "nearest" | "down" | "up";

/** Within this share of the last digit a value equals the digit itself: binary fractions are not exact, as with 60.3. */
const SLIP = 1e-6;

/** Cached by digits: creating a format for each number costs a live page more than drawing its lines. */
const formats = new Map<number, Intl.NumberFormat>();

function formatOf(digits: number): Intl.NumberFormat {
  const known = formats.get(digits);
  if (known !== undefined) return known;
  const made = new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  formats.set(digits, made);
  return made;
}

function fixed(value: number, digits: number, rounding: Rounding = "nearest"): string {
  const scaled = value * 10 ** digits;
  const rounded =
    rounding === "nearest" ? value : (rounding === "down" ? Math.floor(scaled + SLIP) : Math.ceil(scaled - SLIP) + 0) / 10 ** digits;
  return formatOf(digits).format(rounded);
}

function isAbsent(value: number | null | undefined): value is null | undefined {
  return value === null || value === undefined || Number.isNaN(value);
}

/** Three significant digits are the precision of a latency prediction: `340 ms`, `1.24 s`, `11.2 s`, `118 s`. */
export function formatSeconds(seconds: number | null | undefined): string {
  return isAbsent(seconds) ? ABSENT : secondsText(seconds, "nearest");
}

function secondsText(seconds: number, rounding: Rounding): string {
  if (!Number.isFinite(seconds)) return "overloaded";
  if (seconds < 1) return `${fixed(seconds * 1000, 0, rounding)}${NBSP}ms`;
  return `${fixed(seconds, seconds < 10 ? 2 : seconds < 100 ? 1 : 0, rounding)}${NBSP}s`;
}

interface Span {
  readonly low: number;
  readonly high: number;
}

/** A span of latencies, its ends rounded outwards: `1.25 s to 1.75 s`. */
export const formatSecondsSpan = ({ low, high }: Span): string => `${secondsText(low, "down")} to ${secondsText(high, "up")}`;

/** A score or quality on the 0..100 scale, one decimal: `86.1`. */
export function formatScore(score: number | null | undefined): string {
  return isAbsent(score) ? ABSENT : fixed(score, 1);
}

/** Half the width of an interval of scores, rounded up: only an exact value is shown as `0.0`. */
export const formatScoreMargin = (half: number): string => fixed(half, 1, "up");

/** The lower bound of a score, rounded down: a displayed value at the floor meets it. */
export const formatScoreBound = (score: number): string => fixed(score, 1, "down");

/** A span of scores, its ends rounded outwards: `60.2 to 63.1`. */
export const formatScoreSpan = ({ low, high }: Span): string => `${fixed(low, 1, "down")} to ${fixed(high, 1, "up")}`;

/** A fraction as whole per cent: `71 %`. */
export function formatPercent(fraction: number | null | undefined): string {
  return isAbsent(fraction) ? ABSENT : `${fixed(fraction * 100, 0)}${NBSP}%`;
}

/** Shares below half a per cent, which whole per cents would show as 0. */
const LEAST_SHARE = 0.005;

/** A measured share as whole per cent, where only zero is shown as `0 %`: `71 %`, `<1 %`. */
export const formatShare = (share: number | null | undefined): string =>
  typeof share === "number" && share > 0 && share < LEAST_SHARE ? `<1${NBSP}%` : formatPercent(share);

/** A fraction as per cent with one decimal: `71.4 %`. */
export const formatFinePercent = (fraction: number | null): string => (isAbsent(fraction) ? ABSENT : `${fixed(fraction * 100, 1)}${NBSP}%`);

/** A span of fractions with one decimal, its ends rounded outwards: `38.1 to 41.7 %`. */
export const formatFinePercentSpan = ({ low, high }: Span): string =>
  `${fixed(low * 100, 1, "down")} to ${fixed(high * 100, 1, "up")}${NBSP}%`;

/** A span of fractions, its ends rounded outwards: `38 % to 42 %`. */
export const formatPercentSpan = ({ low, high }: Span): string =>
  `${fixed(low * 100, 0, "down")}${NBSP}% to ${fixed(high * 100, 0, "up")}${NBSP}%`;

/** Dollars with enough digits to distinguish two plans: `$0.00214`, `$12.80`. */
export function formatUsd(usd: number | null | undefined): string {
  if (isAbsent(usd)) return ABSENT;
  if (usd === 0) return "$0";
  if (Math.abs(usd) >= 1) return `$${fixed(usd, 2)}`;
  const digits = Math.min(8, 2 - Math.floor(Math.log10(Math.abs(usd))));
  return `$${fixed(usd, digits)}`;
}

/** A rate per second: `120/s`, `3.4/s`, `0.75/s`. */
export function formatRate(perSecond: number | null | undefined): string {
  if (isAbsent(perSecond)) return ABSENT;
  const digits = perSecond >= 100 || Number.isInteger(perSecond) ? 0 : perSecond < 1 ? 2 : 1;
  return `${fixed(perSecond, digits)}/s`;
}

const fineRate = new Intl.NumberFormat("en", { minimumSignificantDigits: 3, maximumSignificantDigits: 3 });

/** A rate in three digits: enough to tell two apart that differ by 2 %. */
export const formatFineRate = (perSecond: number): string => `${fineRate.format(perSecond)}/s`;

export function formatCount(count: number | null | undefined): string {
  return isAbsent(count) ? ABSENT : fixed(count, 0);
}

/** A count with its noun, which takes a plain `s` in the plural: `1 row`, `2,430 rows`. */
export function formatCounted(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Bytes as GiB, the unit GPU memory is sold in. */
export function formatGibibytes(bytes: number | null | undefined): string {
  return isAbsent(bytes) ? ABSENT : `${fixed(bytes / 1024 ** 3, 1)}${NBSP}GiB`;
}

/** How long ago: `now`, `14 s`, `3 min`, `2 h`, `5 d`. */
export function formatAge(seconds: number): string {
  if (seconds < 1.5) return "now";
  if (seconds < 90) return `${fixed(seconds, 0)}${NBSP}s`;
  if (seconds < 90 * 60) return `${fixed(seconds / 60, 0)}${NBSP}min`;
  if (seconds < 36 * 3600) return `${fixed(seconds / 3600, 0)}${NBSP}h`;
  return `${fixed(seconds / 86_400, 0)}${NBSP}d`;
}

/** A change with a sign that screen readers announce: `+1.8`, `−0.9`, `±0`. */
export function formatDelta(delta: number, digits: number): string {
  const text = fixed(Math.abs(delta), digits);
  if (Number(text.replaceAll(",", "")) === 0) return "±0";
  return `${delta > 0 ? "+" : "−"}${text}`;
}

/** The first eight digits of a plan's hash: enough to distinguish plans of one cluster at a glance. */
export function shortHash(hash: string): string {
  return hash.slice(0, 8);
}

/** Local wall time of an ISO date, to the second. */
export function formatClock(iso: string): string {
  return new Date(iso).toLocaleTimeString("en-GB");
}

/** Local date and time of an ISO date: `2026-03-01 14:05`. */
export function formatDate(iso: string): string {
  const date = new Date(iso);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
