import { type Interval, meanQuality, shareOf } from "../numeric/interval";
import type { LabelledScore } from "./pairCounts";

/** Minimum label, 0..100, of an answer that counts as right wherever right and wrong are told apart: at least half right. */
const RIGHT_FROM = 50;

/** Ranges of scores, both ends included. */
const ranges = [
  { from: 0, to: 19 },
  { from: 20, to: 39 },
  { from: 40, to: 59 },
  { from: 60, to: 79 },
  { from: 80, to: 100 },
] as const;

/** Whether a quality of 0..100, a label or a score that stands for one, is that of a right answer. */
export const isRightLabel = (quality: number): boolean => quality >= RIGHT_FROM;

/** Share of answers on which measure and person agree whether the answer is right; null for none. */
export function agreementOf(answers: readonly LabelledScore[]): Interval | null {
  return shareOf(answers.filter(({ score, label }) => isRightLabel(score) === isRightLabel(label)).length, answers.length);
}

/** Share of pairs on which a comparing measure and a person have the same verdict: the one, the other, or neither; null for none. */
export function agreementOnPairs(pairs: readonly { readonly difference: number; readonly preference: number }[]): Interval | null {
  const same = pairs.filter(({ difference, preference }) => Math.sign(difference) === Math.sign(preference));
  return shareOf(same.length, pairs.length);
}

/** Mean label of the answers scored within each range that has some. */
export function calibrationOf(answers: readonly LabelledScore[]) {
  return ranges.flatMap(({ from, to }) => {
    // Means of two orders can be between whole points.
    const within = answers.filter(({ score }) => score >= from && score < to + 1);
    const quality = within.length === 0 ? null : meanQuality(within.map(({ label }) => label));
    return quality === null ? [] : [{ from, to, labels: within.length, quality }];
  });
}
