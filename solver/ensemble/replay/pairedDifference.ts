import { type Interval, NORMAL_90 } from "@/solver/numeric/interval";

/** Questions of which two ways of answering them were each right or wrong. */
export interface PairedAnswers {
  readonly questions: number;
  /** Right in the first way only, and in the second only. */
  readonly gained: number;
  readonly lost: number;
}

/**
 * The first way's share of right answers minus the second's on the same questions, with a 90 % interval: Wald's with half a question added to each of the
 * four outcomes (Agresti and Min, Statistics in Medicine 24, 2005), so that few questions on which both ways agree prove little. Of no questions: -1 to 1.
 */
export function pairedDifference({ questions, gained, lost }: PairedAnswers): Interval {
  if (questions === 0) return { value: 0, low: -1, high: 1 };
  const value = (gained - lost) / questions;
  const count = questions + 2;
  const centre = (gained - lost) / count;
  const half = NORMAL_90 * Math.sqrt((gained + lost + 1) / count - centre ** 2) * Math.sqrt(1 / count);
  return { value, low: Math.max(-1, Math.min(value, centre - half)), high: Math.min(1, Math.max(value, centre + half)) };
}
