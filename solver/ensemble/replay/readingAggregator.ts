import type { Confidence } from "../gate/ensembleDocument";
import { leadingVote, type Vote } from "../gate/gate";

/** The aggregator's place among those whose answers are weighed; experts may have its model's name. */
const ITSELF = "";

/** Whose answer an aggregator gives: an expert that it read; null where it keeps its own, also where no one has a vote. */
export type ReadingAggregator = (own: Pick<Vote, "vote" | "outputTokens">, read: readonly Vote[]) => string | null;

/**
 * Whose answer an aggregator gives after reading the experts' answers. Modelled, where no answer of a model that read them is recorded: it
 * has the answer that it would give alone, reads the others', and gives the one with the most weight, its own in a tie. Weights are the log
 * odds of each one's accuracy, as in the gate's accuracy-weighted confidence: the best decision where mistakes are independent. A real
 * aggregator may do better, as it reads reasons and not only answers, or worse, as it may follow a majority that errs together.
 *
 * @param accuracy of the aggregator's own answers and of each expert's, 0..1, learnt on other questions.
 */
export function readingAggregator(accuracy: {
  readonly own: number;
  readonly experts: Readonly<Record<string, number>>;
}): ReadingAggregator {
  const confidence: Confidence = { kind: "accuracy-weighted", accuracy: { ...accuracy.experts, [ITSELF]: accuracy.own } };
  return (own, read) => {
    if (read.every(({ vote }) => vote === null || vote === own.vote)) return null;
    const asked = [ITSELF, ...read.map(({ expert }) => expert)];
    const leading = leadingVote([{ ...own, expert: ITSELF }, ...read], { asked, confidence });
    return leading === null || leading.vote === own.vote ? null : leading.expert;
  };
}
