import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { seededRandom } from "@/solver/numeric/random";
import { shuffled } from "@/solver/numeric/shuffled";
import { simulatedSessionSeconds } from "./sessionCost";

/** Sampled questions as input and output of the aggregator, in parallel arrays. */
export interface AggregatedQuestions {
  /** Tokens of the question itself. */
  readonly questionTokens: ArrayLike<number>;
  /** Tokens that the aggregator reads besides: its experts' answers together, and its instructions where they count. */
  readonly answerTokens: ArrayLike<number>;
  /** Output tokens of the aggregator. */
  readonly outputTokens: ArrayLike<number>;
  /** Confidence of the gate, 0..1: the least confident are aggregated first. null: not known, so that all are equally likely. */
  readonly confidence: ArrayLike<number> | null;
}

/** The aggregating engines and their work. */
export interface AggregatorStage {
  readonly replica: ReplicaModel;
  /** Number of engines, each with an equal part. */
  readonly copies: number;
  /** Number of questions of the batch, of which a share is aggregated. */
  readonly questions: number;
  /** Maximum number of requests in flight of an engine; null: as many as it takes. */
  readonly concurrency: number | null;
}

const SHARES = [0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1] as const;

/** Seed for the order of questions with equal confidence. */
const TIES_SEED = 1;

/**
 * Seconds of the aggregator's stage by the share of questions that it answers, the least confident first, without loading: experts that
 * disagree have the longest answers, so that skipping saves less than its share (MOSAIC, section 5.4).
 *
 * @returns points that ascend in both; none where its engine has room for no question.
 */
export function aggregatorPoints(
  sampled: AggregatedQuestions,
  { replica, copies, questions, concurrency }: AggregatorStage,
): readonly { readonly share: number; readonly seconds: number }[] {
  const order = leastConfidentFirst(sampled).filter((at) => {
    const { inputTokens, outputTokens } = lengthsOf(sampled, [at]);
    return (inputTokens[0] ?? 0) + (outputTokens[0] ?? 0) <= replica.kvTokens;
  });
  if (order.length === 0) return [];
  let before = 0;
  return SHARES.map((share) => {
    const prompts = Math.ceil(Math.round(share * questions) / copies);
    if (prompts > 0) {
      const lengths = lengthsOf(sampled, order.slice(0, Math.max(1, Math.round(share * order.length))));
      before = Math.max(before, simulatedSessionSeconds(replica, { ...lengths, seed: TIES_SEED }, { mostPrompts: prompts, concurrency }));
    }
    return { share, seconds: before };
  });
}

/** Engines that could aggregate, and the loading time of one of them. */
export interface AggregatorPool extends Pick<AggregatorStage, "replica" | "copies"> {
  readonly loadSeconds: number;
}

/**
 * The one of several ways to divide the same GPUs that has all questions aggregated first, loading included: usually parallel engines, as
 * an engine with twice the GPUs is less than twice as fast.
 *
 * @returns null where none has room for a question.
 */
export function quickestPool<Pool extends AggregatorPool>(
  sampled: AggregatedQuestions,
  pools: readonly Pool[],
  stage: Pick<AggregatorStage, "questions" | "concurrency">,
): { readonly pool: Pool; readonly points: ReturnType<typeof aggregatorPoints> } | null {
  const timed = pools.flatMap((pool) => {
    const points = aggregatorPoints(sampled, { ...stage, replica: pool.replica, copies: pool.copies });
    const all = points.at(-1);
    return all === undefined ? [] : [{ pool, points, seconds: pool.loadSeconds + all.seconds }];
  });
  const [quickest] = timed.toSorted((a, b) => a.seconds - b.seconds);
  return quickest === undefined ? null : { pool: quickest.pool, points: quickest.points };
}

/** Seconds at a share between two points, by linear interpolation. */
export function secondsAtShare(points: readonly { readonly share: number; readonly seconds: number }[], share: number): number {
  const above = points.findIndex((point) => point.share >= share);
  const [from, to] = [points[above - 1], points[above]];
  if (to === undefined) return points.at(-1)?.seconds ?? 0;
  if (from === undefined || share === to.share) return to.seconds;
  return from.seconds + ((to.seconds - from.seconds) * (share - from.share)) / (to.share - from.share);
}

function leastConfidentFirst({ questionTokens, confidence }: AggregatedQuestions): readonly number[] {
  const order = [...shuffled(questionTokens.length, seededRandom(TIES_SEED))];
  return confidence === null ? order : order.sort((a, b) => (confidence[a] ?? 0) - (confidence[b] ?? 0));
}

function lengthsOf({ questionTokens, answerTokens, outputTokens }: AggregatedQuestions, rows: readonly number[]) {
  return {
    inputTokens: Int32Array.from(rows, (at) => (questionTokens[at] ?? 0) + (answerTokens[at] ?? 0)),
    outputTokens: Int32Array.from(rows, (at) => Math.max(1, outputTokens[at] ?? 0)),
  };
}
