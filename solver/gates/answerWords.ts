import { type Sketch, sketchOf } from "@/solver/words/sketch";
import { wordWeights } from "@/solver/words/wordSpace";
import type { ScorerWords } from "./gateDocument";

/** What a scorer reads of the texts of a prompt and of an answer to it. */
export interface AnswerWords {
  readonly prompt: Sketch;
  readonly answer: Sketch;
}

/**
 * The words and pairs of words of prompt and answer, hashed.
 *
 * @param prompt the whole conversation, as a judge reads it.
 */
export const answerWords = (prompt: string, answer: string): AnswerWords => ({ prompt: sketchOf(prompt), answer: sketchOf(answer) });

/** What the words add to a scorer's logit: the TF-IDF of each text, of length 1, times the weights. Words without a weight do not count. */
export const wordsLogit = (words: ScorerWords, { prompt, answer }: AnswerWords): number =>
  textLogit(words.prompt, prompt) + textLogit(words.answer, answer);

function textLogit(words: ScorerWords["prompt"], sketch: Sketch): number {
  const { places, weights } = wordWeights(words, sketch);
  let sum = 0;
  for (const [at, place] of places.entries()) sum += (weights[at] ?? 0) * (words.weights[place] ?? 0);
  return sum;
}
