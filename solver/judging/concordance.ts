import { type Interval, NORMAL_90, shareOf } from "../numeric/interval";
import { type LabelledScore, pairCounts } from "./pairCounts";

/** A measure's order of all pairs of answers with different labels. */
interface Concordance {
  /** Probability that the better one has the higher score, ties half: on right or wrong labels the area under the ROC curve. */
  readonly value: number;
  readonly pairs: number;
  /** Variance of the value, from the difference of each answer's own pairs from the rest (a U-statistic's projections). */
  readonly variance: number;
}

/** A group's part in the value: its share of all pairs, and the equivalent numbers of better and worse answers of its labels. */
interface Part {
  readonly share: number;
  readonly better: number;
  readonly worse: number;
}

/**
 * Minimum number of labelled answers for an interval as narrow as their own spread, where labels are graded; with fewer different ones it
 * is wider.
 */
const UNLIKE_LABELS = 15;

/** Number of bisection steps: far below the resolution of a score. */
const STEPS = 50;

/**
 * AUC of a measure with a 90 % interval: Newcombe's method 5 (Statistics in Medicine 25, 2006, p. 559), Wilson's idea on Hanley and
 * McNeil's variance. With 50 labels, few of them of one kind, its coverage is nominal where that of DeLong's on the logit scale and the BCa
 * bootstrap falls to 70 to 85 % (`aucIntervals.test.ts`). Graded labels have more information than right or wrong ones: their interval is
 * narrowed to the observed variance, as far as the labels differ enough to show one.
 *
 * @returns null without two different labels.
 */
export const aucOf = (answers: readonly LabelledScore[]): Interval | null => aucWithin([answers]);

/**
 * AUC of a measure over pairs of answers of one group only, for example of one model: the AUC that matters for a gate on that model. A
 * measure that only detects whose answer it reads has 0.5 here and more in `aucOf`. Every group is assumed to have the same AUC; its
 * variance is that of the mean of their own AUCs, weighted by their pairs.
 *
 * @returns null where no group has two different labels.
 */
export function aucWithin(groups: readonly (readonly LabelledScore[])[]): Interval | null {
  const seen = seenOf(groups);
  return seen && newcombe(seen.value, seen.parts);
}

/**
 * The number of additional labels of the same kinds that halve the interval of `aucWithin`; null where no group has two different labels.
 */
export function labelsToHalve(groups: readonly (readonly LabelledScore[])[]): number | null {
  const seen = seenOf(groups);
  if (seen === null) return null;
  const width = (times: number): number => {
    const { low, high } = newcombe(
      seen.value,
      seen.parts.map(({ share, better, worse }) => ({ share, better: times * better, worse: times * worse })),
    );
    return high - low;
  };
  const wanted = width(1) / 2;
  const times = crossing(1, 16, (factor) => width(factor) > wanted);
  return Math.ceil((times - 1) * groups.reduce((sum, { length }) => sum + length, 0));
}

/**
 * Over pairs compared by a person: of those with a better answer, the share in which it has the higher score, ties half; null without any.
 */
export function concordanceOfPairs(pairs: readonly { readonly difference: number; readonly preference: number }[]): Interval | null {
  const told = pairs.filter(({ preference }) => preference !== 0);
  const hits = told.reduce((sum, { difference, preference }) => sum + (difference === 0 ? 0.5 : difference * preference > 0 ? 1 : 0), 0);
  return shareOf(hits, told.length);
}

function seenOf(groups: readonly (readonly LabelledScore[])[]): { readonly value: number; readonly parts: readonly Part[] } | null {
  const seen = groups.flatMap((answers) => {
    const of = concordance(answers);
    return of === null ? [] : [{ answers, of }];
  });
  if (seen.length === 0) return null;
  const pairs = seen.reduce((sum, { of }) => sum + of.pairs, 0);
  return {
    value: seen.reduce((sum, { of }) => sum + of.value * (of.pairs / pairs), 0),
    parts: seen.map(({ answers, of }) => ({ share: of.pairs / pairs, ...weights(answers, of) })),
  };
}

function concordance(answers: readonly LabelledScore[]): Concordance | null {
  const count = answers.length;
  const { right, pairs } = pairCounts(answers);
  const total = pairs.reduce((sum, each) => sum + each, 0);
  if (total === 0) return null;
  const value = right.reduce((sum, each) => sum + each, 0) / total;
  const mean = total / count;
  const spread = right.reduce((sum, each, at) => sum + ((2 * (each - value * (pairs[at] ?? 0))) / mean) ** 2, 0);
  return { value, pairs: total / 2, variance: spread / (count * Math.max(1, count - 1)) };
}

/** Equivalent numbers of better and worse answers of the labels: the numbers themselves where labels are right or wrong. */
function weights(answers: readonly LabelledScore[], { value, pairs, variance }: Concordance) {
  const counts = new Map<number, number>();
  for (const { label } of answers) counts.set(label, (counts.get(label) ?? 0) + 1);
  const [one = 0, other = 0] = counts.values();
  if (counts.size === 2) return { better: one, worse: other };
  const half = answers.length / 2;
  const unlike = answers.length - Math.max(...counts.values());
  const most = Math.max(1, unlike / UNLIKE_LABELS);
  const expected = hanleyMcNeil(value, half, pairs / half);
  const times = variance > 0 ? Math.min(most, Math.max(1, expected / variance)) : 1;
  return { better: times * half, worse: (times * pairs) / half };
}

/** Variance of an AUC of `better` and `worse` answers by Hanley and McNeil (Radiology 143, 1982), with Newcombe's mean of both counts. */
function hanleyMcNeil(auc: number, better: number, worse: number): number {
  const others = (better + worse) / 2 - 1;
  const spread = 1 + (others * (1 - auc)) / (2 - auc) + (others * auc) / (1 + auc);
  return (auc * (1 - auc) * Math.max(0, spread)) / (better * worse);
}

/** The AUCs for which the observed value is within 1.64 standard deviations, each with its own deviation. */
function newcombe(value: number, parts: readonly Part[]): Interval {
  const variance = (auc: number): number =>
    parts.reduce((sum, { share, better, worse }) => sum + share ** 2 * hanleyMcNeil(auc, better, worse), 0);
  const isFar = (auc: number): boolean => Math.abs(value - auc) > NORMAL_90 * Math.sqrt(variance(auc));
  const low = value <= 0 ? 0 : crossing(0, value, isFar);
  const high = value >= 1 ? 1 : crossing(1, value, isFar);
  return { value, low, high };
}

/** Between an end where a condition is true and one where it is false, the place where it changes. */
function crossing(holds: number, ends: number, isThere: (at: number) => boolean): number {
  let [from, to] = [holds, ends];
  for (let step = 0; step < STEPS; step += 1) {
    const middle = (from + to) / 2;
    if (isThere(middle)) from = middle;
    else to = middle;
  }
  return (from + to) / 2;
}
