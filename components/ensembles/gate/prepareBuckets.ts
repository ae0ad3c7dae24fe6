import type { Tone } from "@/components/ui/Badge";
import { formatFinePercent, formatFinePercentSpan, formatPercent } from "@/components/ui/format";
import type { GateReport } from "@/server/contracts/studio";
import { type Interval, shareOf } from "@/solver/numeric/interval";

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
  /** Which of the two is right more often; null: not known for both. */
  readonly verdict: { readonly tone: Tone; readonly text: string } | null;
  /** Mean tokens that experts wrote on such a question. */
  readonly expertTokens: number;
}

/** Votes by answer, most first; empty where there were none. */
export const votesOf = (votes: string): readonly number[] =>
  votes
    .split(":")
    .map(Number)
    .filter((count) => count > 0);

/**
 * The wording of votes in a sentence: `3:0` as `all 3 alike`.
 *
 * @param asked experts that got the question: those without a vote did not agree.
 * @param lacking the wording for those without one.
 */
export function votesInWords(votes: string, asked: number, lacking = "without a vote"): string {
  const [lead, ...others] = votesOf(votes);
  if (lead === undefined) return "no vote read";
  const against = others.reduce((sum, count) => sum + count, 0);
  const silent = asked - lead - against;
  const missing = silent > 0 ? `, ${silent} ${lacking}` : "";
  if (others.length === 0) return lead === 1 ? "a single vote" : silent > 0 ? `${lead} alike${missing}` : `all ${lead} alike`;
  if (others.every((count) => count === lead)) return `${lead === 1 ? "all different" : "split evenly"}${missing}`;
  return `${lead} against ${against}${missing}`;
}

/** Most agreement first: the most votes for one answer, then the fewest for others; questions without votes last. */
export function byAgreement(a: string, b: string): number {
  const [left, right] = [votesOf(a), votesOf(b)];
  const against = (votes: readonly number[]) => votes.slice(1).reduce((sum, count) => sum + count, 0);
  return (right[0] ?? 0) - (left[0] ?? 0) || against(left) - against(right) || left.length - right.length;
}

const barOf = (interval: Interval | null): BucketBar | null =>
  interval && { ...interval, text: formatFinePercent(interval.value), span: formatFinePercentSpan(interval) };

function verdictOf(leading: Interval | null, aggregator: Interval | null): BucketRow["verdict"] {
  if (leading === null || aggregator === null) return null;
  if (aggregator.high < leading.low) return { tone: "good", text: "the aggregator would be worse" };
  if (aggregator.low > leading.high) return { tone: "warn", text: "the aggregator is better" };
  return { tone: "neutral", text: "too close to tell" };
}

/** Questions by how experts voted on them, with how often the leading answer and the aggregator's are right. */
export function prepareBuckets({ buckets, questions }: Pick<GateReport, "buckets" | "questions">, asked: number): readonly BucketRow[] {
  return buckets.map((bucket) => {
    const share = questions === 0 ? 0 : bucket.questions / questions;
    return {
      votes: bucket.votes,
      words: votesInWords(bucket.votes, asked),
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

type Bucket = GateReport["buckets"][number];

/** Several buckets merged; null for figures that some of them lack. */
function pooled(buckets: readonly Bucket[], of: (bucket: Bucket) => Interval | null): Interval | null {
  let [hits, questions] = [0, 0];
  for (const bucket of buckets) {
    const share = of(bucket);
    if (share === null) return null;
    hits += Math.round(share.value * bucket.questions);
    questions += bucket.questions;
  }
  return shareOf(hits, questions);
}

const leadOf = ({ votes }: Bucket): number => votesOf(votes)[0] ?? 0;

const questionsOf = (buckets: readonly Bucket[]): number => buckets.reduce((sum, { questions }) => sum + questions, 0);

/** Buckets in which at least so many experts agree, and the others. */
interface Split {
  readonly agree: number;
  readonly above: readonly Bucket[];
  readonly below: readonly Bucket[];
}

/** The number of agreeing experts that divides questions most evenly, regardless of who is right; null: it is the same for all. */
function evenSplit(buckets: readonly Bucket[]): Split | null {
  const splits = [...new Set(buckets.map(leadOf))].map((agree) => ({
    agree,
    above: buckets.filter((bucket) => leadOf(bucket) >= agree),
    below: buckets.filter((bucket) => leadOf(bucket) < agree),
  }));
  const uneven = ({ above, below }: Split): number => Math.abs(questionsOf(above) - questionsOf(below));
  return splits.filter(({ below }) => below.length > 0).sort((a, b) => uneven(a) - uneven(b))[0] ?? null;
}

interface AgreementSentence {
  readonly text: string;
  /** It is an argument against a gate. */
  readonly doubts: boolean;
}

/** Whether agreement predicts correctness on this sample, and whether the aggregator helps where agreement is low. */
export function agreementSays({ buckets }: Pick<GateReport, "buckets">): readonly AgreementSentence[] {
  const doubt = (text: string): AgreementSentence => ({ text, doubts: true });
  const led = buckets.filter(({ leading }) => leading !== null);
  const most = led.reduce((lead, bucket) => Math.max(lead, leadOf(bucket)), 0);
  if (most === 0) return [doubt("No vote could be read from any answer: agreement is unknown.")];
  const among = (agree: number): string => (agree === most ? `${agree} experts agree` : `${agree} experts or more agree`);
  const split = evenSplit(led);
  if (split === null)
    return [
      doubt(
        most === 1
          ? "No two experts agree on any question."
          : `The same number of experts, ${most}, agrees on every question with votes: agreement does not distinguish questions.`,
      ),
    ];
  const leading = (part: readonly Bucket[]) => pooled(part, (bucket) => bucket.leading);
  const aggregated = (part: readonly Bucket[]) => pooled(part, (bucket) => bucket.aggregator);
  const [agreed, others, asked] = [leading(split.above), leading(split.below), aggregated(split.below)];
  const sentences: AgreementSentence[] = [];
  if (agreed !== null && others !== null) {
    const figures = `the leading answer is right on ${formatFinePercent(agreed.value)} where ${among(split.agree)}, and on ${formatFinePercent(others.value)} where fewer do`;
    sentences.push(
      agreed.low > others.high
        ? { text: `The more experts agree, the more often they are right: ${figures}.`, doubts: false }
        : doubt(`Agreement does not distinguish right from wrong answers here: ${figures}, too close for a gate to use.`),
    );
  }
  const top = led.filter((bucket) => leadOf(bucket) === most);
  const [atMost, best] = [leading(top), aggregated(top)];
  if (atMost !== null && best !== null && best.low > atMost.high)
    sentences.push(
      doubt(`Even where ${among(most)} the aggregator is right more often (${formatFinePercent(best.value)}): every skip costs accuracy.`),
    );
  if (others !== null && asked !== null && asked.high < others.low)
    sentences.push(
      doubt(
        `Where fewer than ${split.agree} experts agree the leading answer is right more often than the aggregator (${formatFinePercent(asked.value)}): asking it does not pay.`,
      ),
    );
  return sentences;
}
