import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { shuffled } from "@/solver/numeric/shuffled";
import { ANY_CATEGORY, type Confidence, type Ensemble } from "../gate/ensembleDocument";
import { decideGate } from "../gate/gate";
import { type AnswerSample, someQuestions, votesAt } from "./answerSample";
import type { ReplayedQuestion } from "./gatePoints";
import { type ReadingAggregator, readingAggregator } from "./readingAggregator";
import { recruiter, skillsOf } from "./recruit";

/** The models whose answers are replayed, and the gate's settings. */
export interface ReplayedEnsemble {
  readonly experts: readonly string[];
  /** Where there are more, those of a question are recruited by accuracy per category. */
  readonly expertsPerQuestion: number;
  readonly aggregator: string | null;
  readonly confidence: Confidence["kind"];
}

/** A replayed question, its index in the sample, and its experts. */
export interface PlacedQuestion extends ReplayedQuestion {
  readonly at: number;
  readonly asked: readonly string[];
}

/** For an expert that answered nothing on the other half. */
const UNKNOWN_ACCURACY = 0.5;

/** Data learnt of experts on one half of a sample. */
interface Learnt {
  readonly recruits: (category: string) => readonly string[];
  readonly confidence: Confidence;
  readonly reads: ReadingAggregator;
}

/**
 * Questions of a sample as inputs of the gate. All data learnt of experts (their skills, the weights of their votes) is learnt on the half
 * of the questions that does not contain the question, so that no answer is used to predict itself; halves are drawn by the number of
 * questions alone. A question that some of its experts or the aggregator were not asked is left out. The aggregator's answer is what it
 * would make of its own and the experts' (`readingAggregator`): modelled.
 *
 * @param ensemble its names are models of the sample.
 */
export function replayedQuestions(sample: AnswerSample, ensemble: ReplayedEnsemble): readonly PlacedQuestion[] {
  const count = sample.questionIds.length;
  const order = shuffled(count, seededRandom(mixSeed("gate halves", count)));
  const firstHalf = new Set(order.subarray(0, Math.ceil(count / 2)));
  const halfOf = (at: number): number => (firstHalf.has(at) ? 0 : 1);
  const placesOff = (half: number): readonly number[] => sample.questionIds.flatMap((_, at) => (halfOf(at) === half ? [] : [at]));
  const learnt = [0, 1].map((half) => learntOf(someQuestions(sample, placesOff(half)), ensemble));
  const columns = new Map(sample.models.map((column) => [column.model, column]));
  const aggregator = ensemble.aggregator === null ? null : columns.get(ensemble.aggregator);
  return sample.questionIds.flatMap((_, at) => {
    const half = halfOf(at);
    const { recruits, confidence, reads } = learnt[half] ?? never(half);
    const asked = recruits(sample.categories?.[at] ?? ANY_CATEGORY);
    const votes = votesAt(columns, asked, at);
    if (votes === null || (aggregator && aggregator.asked[at] !== 1)) return [];
    const decision = decideGate(votes, { asked, confidence, tau: 1 });
    const standing = decision.leading && columns.get(decision.leading.expert);
    const own = aggregator && { vote: aggregator.answers[at] ?? null, outputTokens: aggregator.outputTokens[at] ?? 0 };
    const follows = own && reads(own, votes);
    return [
      {
        at,
        asked,
        half,
        confidence: decision.confidence,
        votes: decision.votes,
        leads: standing?.correct[at] === 1,
        aggregates: aggregator ? (follows == null ? aggregator : columns.get(follows))?.correct[at] === 1 : null,
        expertTokens: votes.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
      },
    ];
  });
}

function learntOf(sample: AnswerSample, { experts, expertsPerQuestion, aggregator, confidence }: ReplayedEnsemble): Learnt {
  const skills = skillsOf(sample, experts);
  const document: Pick<Ensemble, "experts" | "expertsPerQuestion" | "skills"> = { experts: [...experts], expertsPerQuestion, skills };
  const figures = <T>(of: (expert: string) => T): Record<string, T> => Object.fromEntries(experts.map((expert) => [expert, of(expert)]));
  const accuracy = figures((expert) => skills[ANY_CATEGORY]?.[expert] ?? UNKNOWN_ACCURACY);
  const own = aggregator === null ? undefined : skillsOf(sample, [aggregator])[ANY_CATEGORY]?.[aggregator];
  const learnt = { recruits: recruiter(document), reads: readingAggregator({ own: own ?? UNKNOWN_ACCURACY, experts: accuracy }) };
  if (confidence === "plurality") return { ...learnt, confidence: { kind: confidence } };
  if (confidence === "accuracy-weighted") return { ...learnt, confidence: { kind: confidence, accuracy } };
  const usual = figures((expert) => Math.max(1, meanTokens(sample, expert)));
  return { ...learnt, confidence: { kind: confidence, meanTokens: usual } };
}

function meanTokens({ models }: AnswerSample, expert: string): number {
  const { asked, outputTokens } = models.find(({ model }) => model === expert) ?? never(expert);
  let [answers, tokens] = [0, 0];
  asked.forEach((was, at) => {
    answers += was;
    tokens += was * (outputTokens[at] ?? 0);
  });
  return answers === 0 ? 1 : tokens / answers;
}

function never(what: string | number): never {
  throw new Error(`The sample has no ${what}`);
}
