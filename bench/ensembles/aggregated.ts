import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { aggregatorReadTokens } from "@/solver/ensemble/gate/aggregatorPrompt";
import { type AggregatedQuestions, aggregatorPoints, secondsAtShare } from "@/solver/ensemble/sessions/aggregatorStage";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { engineOf, QUESTION_TOKENS } from "./drawnSessions";
import { hiddenEngine, KNOWN_SEED } from "./perturbedEngines";
import { meanAnswerTokens, mmluPro, type SourceInstance } from "./sourceInstances";

/** The source names no aggregator; Symbolic-MoE, whose pool this is, takes one of the experts. */
const CARD = "deepseek-r1-distill-qwen-7b";
const TP = 4;
export const LOAD_SECONDS = 42;

/**
 * Mean answers by agreement on MMLU-Pro relative to the mean of all its answers, 1,500 tokens by its slots: 1,064 at 3:0 and 2,696 at 1:1:1
 * as in the source, and 1,542 at 2:1, which gives their mean. The other benchmarks are assumed to have the same ratios to their means.
 */
const MEAN_TOKENS = meanAnswerTokens(mmluPro);
const OF_MEAN = { unanimous: 1064 / MEAN_TOKENS, majority: 1542 / MEAN_TOKENS, split: 2696 / MEAN_TOKENS } as const;

const SPREAD = 0.8;
export const EXPERTS_PER_QUESTION = 3;
const DRAWN = 1500;

/** Reasoning models occasionally do not terminate: the length of such an answer within a context of 32,768 tokens. */
const RUN_ON_TOKENS = 28_000;

/** The aggregator's stage of a benchmark, with all questions and with those that remain at tau 2/3, loading included. */
export interface AggregatedSeconds {
  readonly always: number;
  readonly gated: number;
}

/** Input and output of the aggregator. */
export interface AggregatorLengths {
  /** Mean answer of an expert, and of the aggregator, over all questions; both longer where experts split. */
  readonly readTokens: number;
  readonly writtenTokens: number;
  /** Among its answers to questions on which no two experts agree, the share that continues to the context's end. */
  readonly runOn: number;
  readonly seed: number;
  /** Whether the engine deviates from its profile by the seed; left out: it does not. */
  readonly hiddenEngines?: boolean;
}

/** Times the aggregator on all GPUs, with engines slowed down such that MMLU-Pro's whole stage takes the time that the source measured. */
export function aggregatedSeconds(instance: SourceInstance, lengths: AggregatorLengths): AggregatedSeconds {
  const factor = aggregatorSlowness(lengths);
  const { always, gated } = secondsOf(instance, lengths);
  return { always: LOAD_SECONDS + factor * always, gated: LOAD_SECONDS + factor * gated };
}

/** Time of the source's aggregator relative to the simulated one. Hidden engines deviate from the level that is known of other lengths. */
export function aggregatorSlowness({
  runOn,
  seed,
  hiddenEngines = false,
}: Omit<AggregatorLengths, "readTokens" | "writtenTokens">): number {
  const known = { readTokens: MEAN_TOKENS, writtenTokens: MEAN_TOKENS, runOn, seed: hiddenEngines ? KNOWN_SEED : seed };
  return (mmluPro.aggregator.always - LOAD_SECONDS) / secondsOf(mmluPro, known).always;
}

/** The aggregator's engine over all GPUs, as profiled or hidden. */
export function aggregatorEngine({ seed, hiddenEngines = false }: Pick<AggregatorLengths, "seed" | "hiddenEngines">): ReplicaModel {
  const profiled = engineOf(CARD, TP);
  return hiddenEngines ? hiddenEngine(profiled, seed, "aggregator") : profiled;
}

function secondsOf(instance: SourceInstance, lengths: AggregatorLengths): AggregatedSeconds {
  const { questions, skipped } = instance;
  const stage = { replica: aggregatorEngine(lengths), copies: 1, questions, concurrency: null };
  const points = aggregatorPoints(drawnQuestions(instance, lengths), stage);
  return { always: secondsAtShare(points, 1), gated: secondsAtShare(points, 1 - skipped.majority) };
}

/** Questions by falling agreement, with what the aggregator reads and writes of each. */
export function drawnQuestions(
  { skipped }: SourceInstance,
  { readTokens, writtenTokens, runOn, seed }: AggregatorLengths,
): AggregatedQuestions & { readonly confidence: Float64Array } {
  const random = seededRandom(mixSeed(seed, "aggregated"));
  const confidence = Float64Array.from({ length: DRAWN }, (_, at) => {
    const share = (at + 0.5) / DRAWN;
    if (share < skipped.unanimous) return 1;
    return share < skipped.majority ? 2 / 3 : 1 / 3;
  });
  const drawn = (agreed: number, meanTokens: number): number => {
    const ofMean = agreed === 1 ? OF_MEAN.unanimous : agreed > 0.5 ? OF_MEAN.majority : OF_MEAN.split;
    return Math.max(1, ofMean * meanTokens * random.lognormal(-(SPREAD ** 2) / 2, SPREAD));
  };
  return {
    questionTokens: new Int32Array(DRAWN).fill(QUESTION_TOKENS),
    answerTokens: confidence.map((agreed) => aggregatorReadTokens(EXPERTS_PER_QUESTION * drawn(agreed, readTokens), EXPERTS_PER_QUESTION)),
    outputTokens: confidence.map((agreed) => {
      const ended = drawn(agreed, writtenTokens);
      return random.next() < runOn && agreed < 0.5 ? RUN_ON_TOKENS : Math.min(RUN_ON_TOKENS, ended);
    }),
    confidence,
  };
}
