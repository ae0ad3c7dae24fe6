import type { GateReport } from "@/server/contracts/studio";
import type { Interval } from "@/solver/judging/interval";
import type { Tone } from "../ui/Badge";
import { formatPercent } from "../ui/format";
import { formatShare, formatShareSpan } from "./prepareGate";

export interface BucketBar {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly text: string;
  readonly span: string;
}

export interface BucketRow {
  readonly votes: string;
  /** `3:0` in words. */
  readonly words: string;
  readonly questions: number;
  readonly share: number;
  readonly shareText: string;
  readonly leading: BucketBar | null;
  readonly aggregator: BucketBar | null;
  /** Which of the two is right more often; null: there is no telling of both. */
  readonly verdict: { readonly tone: Tone; readonly text: string } | null;
  /** Mean tokens that experts wrote on such a question. */
  readonly expertTokens: number;
}

/** Votes by answer, most first; empty where nobody voted. */
export const votesOf = (votes: string): readonly number[] =>
  votes
    .split(":")
    .map(Number)
    .filter((count) => count > 0);

/** Votes as a sentence would say them: `3:0` as `all 3 alike`. */
export function votesInWords(votes: string): string {
  const [lead, ...others] = votesOf(votes);
  if (lead === undefined) return "no vote read";
  if (others.length === 0) return lead === 1 ? "a single vote" : `all ${lead} alike`;
  if (others.every((count) => count === lead)) return lead === 1 ? "all different" : "split evenly";
  return `${lead} against ${others.reduce((sum, count) => sum + count, 0)}`;
}

/** Most agreement first: the most votes for one answer, then the fewest for others; who said nothing last. */
export function byAgreement(a: string, b: string): number {
  const [left, right] = [votesOf(a), votesOf(b)];
  const against = (votes: readonly number[]) => votes.slice(1).reduce((sum, count) => sum + count, 0);
  return (right[0] ?? 0) - (left[0] ?? 0) || against(left) - against(right) || left.length - right.length;
}

const barOf = (interval: Interval | null): BucketBar | null =>
  interval && { ...interval, text: formatShare(interval.value), span: formatShareSpan(interval) };

function verdictOf(leading: Interval | null, aggregator: Interval | null): BucketRow["verdict"] {
  if (leading === null || aggregator === null) return null;
  if (aggregator.high < leading.low) return { tone: "good", text: "the aggregator would be worse" };
  if (aggregator.low > leading.high) return { tone: "warn", text: "the aggregator is better" };
  return { tone: "neutral", text: "too close to tell" };
}

/** Questions by how experts voted on them, with how often the leading answer and the aggregator's are right. */
export function prepareBuckets({ buckets, questions }: Pick<GateReport, "buckets" | "questions">): readonly BucketRow[] {
  return buckets.map((bucket) => {
    const share = questions === 0 ? 0 : bucket.questions / questions;
    return {
      votes: bucket.votes,
      words: votesInWords(bucket.votes),
      questions: bucket.questions,
      share,
      shareText: formatPercent(share),
      leading: barOf(bucket.leading),
      aggregator: barOf(bucket.aggregator),
      verdict: verdictOf(bucket.leading, bucket.aggregator),
      expertTokens: Math.round(bucket.expertTokens),
    };
  });
}

/** Whether agreement says anything of being right on this sample, and whether the aggregator is worth asking where there is none. */
export function agreementSays({ buckets }: Pick<GateReport, "buckets">): { readonly pays: boolean; readonly sentences: readonly string[] } {
  const told = buckets.flatMap(({ votes, leading, aggregator }) => (leading === null ? [] : [{ votes, leading, aggregator }]));
  const [most, least] = [told[0], told.at(-1)];
  if (most === undefined || least === undefined)
    return { pays: false, sentences: ["Nothing could be read off any answer: there is no agreement to go by."] };
  if (most === least) return { pays: false, sentences: [`Votes are ${most.votes} on every question: agreement tells none from another.`] };
  const sentences: string[] = [];
  const tells = most.leading.low > least.leading.high;
  const figures = `${formatShare(most.leading.value)} where votes are ${most.votes}, on ${formatShare(least.leading.value)} where they are ${least.votes}`;
  sentences.push(
    tells
      ? `The more experts agree, the more often they are right: the leading answer is on ${figures}.`
      : `Agreement does not tell right answers from wrong ones here: the leading answer is right on ${figures}, too close for a gate to go by.`,
  );
  const beatenAtMost = most.aggregator !== null && most.aggregator.low > most.leading.high;
  if (beatenAtMost && most.aggregator !== null)
    sentences.push(
      `Even where votes are ${most.votes} the aggregator is right more often (${formatShare(most.aggregator.value)}): every skip costs accuracy.`,
    );
  if (least.aggregator !== null && least.aggregator.high < least.leading.low)
    sentences.push(
      `Even where votes are ${least.votes} the leading answer is right more often than the aggregator (${formatShare(least.aggregator.value)}): asking it does not pay anywhere.`,
    );
  return { pays: tells && !beatenAtMost, sentences };
}
