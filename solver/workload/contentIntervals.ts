import { type Interval, NORMAL_90, standardError } from "../numeric/interval";
import { mean } from "../numeric/quantile";

export type { Interval } from "../numeric/interval";

/** Two-sided 90 % of Student's t with nine degrees of freedom. */
const TENTHS_T_90 = 1.833;
const TENTHS = 10;

/**
 * Mean quality of labels in 0..100. The spread includes two artificial labels, the best and the worst possible, so that
 * a few right answers do not prove that none is ever wrong.
 *
 * @returns null without labels.
 */
export function qualityInterval(labels: Float64Array): Interval | null {
  if (labels.length === 0) return null;
  const around = about(mean(labels), critical(labels.length) * standardError(labels));
  return { value: around.value, low: Math.max(0, around.low), high: Math.min(100, around.high) };
}

/**
 * Mean of `first` minus that of `second`, two columns in 0..100 for the same prompts in the same order: prompts that are
 * hard for both cancel.
 *
 * @returns null without prompts.
 */
export function pairedDifference(first: Float64Array, second: Float64Array): Interval | null {
  if (first.length === 0) return null;
  // From -100..100 to 0..100, for the same artificial pairs as above.
  const halved = first.map((value, row) => (value - (second[row] ?? 0) + 100) / 2);
  return about(2 * mean(halved) - 100, critical(halved.length) * 2 * standardError(halved));
}

/** Mean of lengths in tokens. A single one gives no bounds. */
export function lengthInterval(tokens: ArrayLike<number>): Interval | null {
  const count = tokens.length;
  if (count === 0) return null;
  const centre = mean(tokens);
  let squares = 0;
  for (let row = 0; row < count; row += 1) squares += ((tokens[row] ?? 0) - centre) ** 2;
  const error = count < 2 ? Number.POSITIVE_INFINITY : Math.sqrt(squares / (count - 1) / count);
  const around = about(centre, critical(count) * error);
  return { ...around, low: Math.max(0, around.low) };
}

/**
 * Mean rate of arrivals that ascend from 0, with an interval from the rates of ten equal parts of the recording (batch means), which
 * includes bursts and daily variation. With fewer than two arrivals per part there are no bounds.
 */
export function rateInterval(arrivalSeconds: Float64Array): Interval | null {
  const span = arrivalSeconds.at(-1) ?? 0;
  if (!(span > 0)) return null;
  const value = (arrivalSeconds.length - 1) / span;
  if (arrivalSeconds.length < 2 * TENTHS) return { value, low: 0, high: Number.POSITIVE_INFINITY };
  const counts = new Float64Array(TENTHS);
  for (const at of arrivalSeconds) {
    const tenth = Math.min(TENTHS - 1, Math.floor((at / span) * TENTHS));
    counts[tenth] = (counts[tenth] ?? 0) + 1;
  }
  const rates = counts.map((count) => (count * TENTHS) / span);
  const centre = mean(rates);
  const variance = rates.reduce((sum, rate) => sum + (rate - centre) ** 2, 0) / (TENTHS - 1);
  const around = about(value, TENTHS_T_90 * Math.sqrt(variance / TENTHS));
  return { ...around, low: Math.max(0, around.low) };
}

/**
 * Increase of `first` over `second`, from different prompts: from the halves of their intervals that face each other
 * (Newcombe, Statistics in Medicine 17, 1998, method 10, which for means is the usual square root of both variances).
 */
export function differenceOf(first: Interval, second: Interval): Interval {
  const value = first.value - second.value;
  return {
    value,
    low: value - Math.hypot(first.value - first.low, second.high - second.value),
    high: value + Math.hypot(first.high - first.value, second.value - second.low),
  };
}

/** Whether a difference exceeds the sampling error of the number of prompts. */
export const isApart = ({ low, high }: Interval): boolean => low > 0 || high < 0;

const about = (value: number, half: number): Interval => ({ value, low: value - half, high: value + half });

/** The normal distribution's quantile, with the first-order step to Student's t for a few dozen prompts. */
const critical = (count: number): number => NORMAL_90 * (1 + (NORMAL_90 ** 2 + 1) / (4 * count));
