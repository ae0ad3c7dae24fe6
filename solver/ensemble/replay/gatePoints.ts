import { type Interval, NORMAL_90, shareOf } from "@/solver/numeric/interval";
import { reachesTau, TOLERANCE } from "../gate/confidence";
import { AGGREGATE_ALL } from "../gate/ensembleDocument";

/** One question as input of a gate. */
export interface ReplayedQuestion {
  /** Confidence of the leading vote; 0 without votes. */
  readonly confidence: number;
  /** By answer, as `2:1`. */
  readonly votes: string;
  /** Whether the leading answer is right. */
  readonly leads: boolean;
  /** Whether the aggregator's answer is right; null without one. */
  readonly aggregates: boolean | null;
  /** Tokens of all answers of experts together. */
  readonly expertTokens: number;
  /** 0 or 1: the data that weights its votes and recruits its experts was learnt on the other half. */
  readonly half: number;
}

/** The results of a gate at one tau. Shares are 0..1. */
export interface GatePoint {
  readonly tau: number;
  readonly skipped: Interval;
  /** Over all questions, where the aggregator answers those not skipped; without an aggregator, over the skipped ones. */
  readonly accuracy: Interval;
  /** Accuracy minus that of always aggregating, question by question; null without an aggregator. */
  readonly difference: Interval | null;
  /** Tokens of answers that the aggregator reads, relative to always running it. */
  readonly aggregatorTokens: number;
}

/** Maximum number of taus: where more differ, as with unequal weights of votes, the points are this number of quantiles of confidence. */
const MOST_POINTS = 40;

/** Whether a gate of this tau skips a question; never without votes. */
export const isSkipped = ({ confidence }: ReplayedQuestion, tau: number): boolean => confidence > 0 && reachesTau(confidence, tau);

/** Points of every tau that makes a difference, ascending; then 1, and last one that aggregates everything. */
export function gatePoints(questions: readonly ReplayedQuestion[]): readonly GatePoint[] {
  return taus(questions).map((tau) => ({ tau, ...skippingWorth(questions, (question) => isSkipped(question, tau)) }));
}

function taus(questions: readonly ReplayedQuestion[]): readonly number[] {
  const rising = Float64Array.from(questions, ({ confidence }) => confidence)
    .filter((confidence) => confidence > 0)
    .sort();
  const distinct = [...rising].filter((confidence, at) => at === 0 || confidence > (rising[at - 1] ?? 0) + TOLERANCE);
  const quantiles = Array.from({ length: MOST_POINTS }, (_, at) => rising[Math.floor((at * rising.length) / MOST_POINTS)] ?? 1);
  const few = distinct.length <= MOST_POINTS ? distinct : [...new Set(quantiles)];
  return [...few.filter((tau) => tau < 1 - TOLERANCE), 1, AGGREGATE_ALL];
}

/** The results of skipping some of these questions, at least one. */
export function skippingWorth(
  questions: readonly ReplayedQuestion[],
  skips: (question: ReplayedQuestion) => boolean,
): Omit<GatePoint, "tau"> {
  const tally = { skipped: 0, right: 0, gained: 0, lost: 0, read: 0, all: 0 };
  let isAggregated = true;
  for (const question of questions) {
    const { leads, aggregates, expertTokens } = question;
    isAggregated &&= aggregates !== null;
    tally.all += expertTokens;
    if (!skips(question)) {
      tally.read += expertTokens;
      if (aggregates === true) tally.right += 1;
      continue;
    }
    tally.skipped += 1;
    if (leads) tally.right += 1;
    if (leads && aggregates === false) tally.gained += 1;
    if (!leads && aggregates === true) tally.lost += 1;
  }
  return {
    skipped: share(tally.skipped, questions.length),
    accuracy: share(tally.right, isAggregated ? questions.length : tally.skipped),
    difference: isAggregated ? pairedDifference({ ...tally, questions: questions.length }) : null,
    aggregatorTokens: tally.all === 0 ? 0 : tally.read / tally.all,
  };
}

const share = (hits: number, count: number): Interval => shareOf(hits, count) ?? { value: 0, low: 0, high: 1 };

/** Questions with the correctness of two ways of answering them. */
interface PairedAnswers {
  readonly questions: number;
  /** Right in the first way only, and in the second only. */
  readonly gained: number;
  readonly lost: number;
}

/**
 * The first way's share of right answers minus the second's on the same questions, with a 90 % interval: Wald's with half a question added
 * to each of the four outcomes (Agresti and Min, Statistics in Medicine 24, 2005), so that few questions on which both ways agree prove
 * little. Without questions: -1 to 1.
 */
export function pairedDifference({ questions, gained, lost }: PairedAnswers): Interval {
  if (questions === 0) return { value: 0, low: -1, high: 1 };
  const value = (gained - lost) / questions;
  const count = questions + 2;
  const centre = (gained - lost) / count;
  const half = NORMAL_90 * Math.sqrt((gained + lost + 1) / count - centre ** 2) * Math.sqrt(1 / count);
  return { value, low: Math.max(-1, Math.min(value, centre - half)), high: Math.min(1, Math.max(value, centre + half)) };
}
