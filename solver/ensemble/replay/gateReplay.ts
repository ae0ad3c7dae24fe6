import { type Interval, shareOf } from "@/solver/numeric/interval";
import type { AnswerSample } from "./answerSample";
import { chooseTau, type HeldOutChoice, heldOutChoice } from "./chooseTau";
import { type GatePoint, gatePoints } from "./gatePoints";
import { type PlacedQuestion, type ReplayedEnsemble, replayedQuestions } from "./replayedQuestions";

export interface ReplayRequest extends ReplayedEnsemble {
  /** Maximum loss in points of accuracy of the chosen tau relative to always aggregating, at 90 % confidence. */
  readonly allowedPoints: number;
}

/** A gate replayed on a labelled sample, tau by tau. Shares are 0..1. */
export interface ReplayedGate {
  readonly questions: number;
  readonly experts: readonly ReplayedExpert[];
  readonly buckets: readonly AgreementBucket[];
  /** Ascending tau; the last but one is 1, and the last aggregates everything. */
  readonly points: readonly GatePoint[];
  readonly alwaysAggregated: Interval | null;
  readonly chosenTau: number | null;
  readonly notes: readonly string[];
}

interface ReplayedExpert {
  readonly model: string;
  readonly accuracy: Interval;
  /** Share of its answers from which a vote could be read. */
  readonly voted: number;
  readonly meanTokens: number;
  /** Questions that it was recruited for. */
  readonly asked: number;
}

/** Questions with the same agreement of experts. */
interface AgreementBucket {
  /** Votes by answer, most first; `no votes` without votes. */
  readonly votes: string;
  readonly questions: number;
  readonly leading: Interval | null;
  readonly aggregator: Interval | null;
  readonly expertTokens: number;
}

/**
 * Replays a gate on a labelled sample (MOSAIC, section 5.2): the accuracy of each agreement, accuracy and share skipped by tau, and the tau
 * to choose. What the aggregator makes of the experts' answers is modelled from its own and theirs.
 *
 * @returns a sentence instead where the sample cannot be replayed.
 */
export function replayGate(sample: AnswerSample, request: ReplayRequest): ReplayedGate | string {
  const { experts, expertsPerQuestion, aggregator, allowedPoints } = request;
  const known = sample.models.map(({ model }) => model);
  const missing = [...experts, ...(aggregator === null ? [] : [aggregator])].find((model) => !known.includes(model));
  if (missing !== undefined) return `The sample has no answers of ${missing}: it has those of ${known.join(", ")}.`;
  if (new Set(experts).size < experts.length) return "An expert is named twice: a model has one vote.";
  if (expertsPerQuestion > experts.length)
    return `${expertsPerQuestion} experts are to answer a question, and there are ${experts.length}.`;
  const questions = replayedQuestions(sample, request);
  if (questions.length === 0)
    return "No question of the sample was put to all of these models: choose others, or have fewer of them answer one.";
  const points = gatePoints(questions);
  const chosenTau = chooseTau(points, allowedPoints);
  return {
    questions: questions.length,
    experts: experts.map((model) => expertFigures(model, sample, questions)),
    buckets: bucketsOf(questions),
    points: aggregator === null ? points.slice(0, -1) : points,
    alwaysAggregated: aggregator === null ? null : rightShare(questions, ({ aggregates }) => aggregates === true),
    chosenTau,
    notes: notesOf(sample, { request, questions, heldOut: heldOutChoice(questions, allowedPoints) }),
  };
}

function expertFigures(model: string, { models }: AnswerSample, questions: readonly PlacedQuestion[]): ReplayedExpert {
  const column = models.find((one) => one.model === model);
  const answered = questions.filter(({ at }) => column?.asked[at] === 1);
  const mean = (of: (at: number) => number): number => answered.reduce((sum, { at }) => sum + of(at), 0) / Math.max(1, answered.length);
  return {
    model,
    accuracy: rightShare(answered, ({ at }) => column?.correct[at] === 1) ?? { value: 0, low: 0, high: 1 },
    voted: mean((at) => (column?.answers[at] === null ? 0 : 1)),
    meanTokens: mean((at) => column?.outputTokens[at] ?? 0),
    asked: questions.filter(({ asked }) => asked.includes(model)).length,
  };
}

function bucketsOf(questions: readonly PlacedQuestion[]): readonly AgreementBucket[] {
  const byVotes = new Map<string, PlacedQuestion[]>();
  for (const question of questions) {
    const within = byVotes.get(question.votes) ?? [];
    within.push(question);
    byVotes.set(question.votes, within);
  }
  return [...byVotes]
    .sort(([a], [b]) => byAgreement(a, b))
    .map(([votes, within]) => ({
      votes: votes === "0" ? "no votes" : votes,
      questions: within.length,
      leading: votes === "0" ? null : rightShare(within, ({ leads }) => leads),
      aggregator: within.some(({ aggregates }) => aggregates === null) ? null : rightShare(within, ({ aggregates }) => aggregates === true),
      expertTokens: within.reduce((sum, { expertTokens }) => sum + expertTokens, 0) / within.length,
    }));
}

/** Most votes for the leading answer first, then most for the next one, and so on. */
function byAgreement(a: string, b: string): number {
  const [first = [], second = []] = [a, b].map((votes) => votes.split(":").map(Number));
  const at = [...first, 0].findIndex((count, place) => count !== second[place]);
  return (second[at] ?? 0) - (first[at] ?? 0);
}

const rightShare = <T>(questions: readonly T[], isRight: (question: T) => boolean): Interval | null =>
  shareOf(questions.filter(isRight).length, questions.length);

interface Noted {
  readonly request: ReplayRequest;
  readonly questions: readonly PlacedQuestion[];
  readonly heldOut: HeldOutChoice | null;
}

function notesOf(sample: AnswerSample, { request, questions, heldOut }: Noted): readonly string[] {
  const { experts, expertsPerQuestion, aggregator, confidence } = request;
  const notes: string[] = [];
  if (aggregator === null) notes.push("Without an aggregator, accuracy is that of the questions that are skipped.");
  else
    notes.push(
      `Modelled: ${aggregator} reads the experts' answers and gives, of these and its own, the one with the most weight by how often each is right. Reading reasons too it may do better, or worse.`,
    );
  const learnt = [
    ...(expertsPerQuestion < experts.length ? ["which experts are recruited"] : []),
    ...(confidence === "accuracy-weighted" ? ["how accurate experts are"] : []),
    ...(confidence === "length-aware" ? ["how long their answers usually are"] : []),
  ];
  if (learnt.length > 0) notes.push(`On either half of the questions, ${learnt.join(" and ")} is learnt on the other.`);
  const leftOut = sample.questionIds.length - questions.length;
  if (leftOut > 0)
    notes.push(
      `${leftOut} of ${sample.questionIds.length} questions are left out, as not all of these models were asked them: what is left may be unlike the rest.`,
    );
  if (heldOut === null) return notes;
  const { skipped, difference } = heldOut;
  if (skipped.value > 0)
    notes.push(
      `Tau chosen on one half of the questions and tried on the other, in turn, skips ${percent(skipped.value)} % and changes accuracy by ${signed(difference.value)} points (90 %: ${signed(difference.low)} to ${signed(difference.high)}).`,
    );
  const share = (isRight: (question: PlacedQuestion) => boolean): number => questions.filter(isRight).length / questions.length;
  if (share(({ leads }) => leads) > share(({ aggregates }) => aggregates === true))
    notes.push("Answers that lead are right more often than the aggregator's: aggregating costs accuracy here, and time.");
  return notes;
}

const percent = (share: number): string => (100 * share).toFixed(1);
const signed = (share: number): string => `${share < 0 ? "−" : "+"}${Math.abs(100 * share).toFixed(1)}`;
