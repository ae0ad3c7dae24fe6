import { type Extraction, hasAnswer } from "@/solver/judging/extract";
import { type AnswerWords, wordsLogit } from "./answerWords";
import type { AnswerEvidence } from "./gate";
import type { GateDocument, LearntScorer, ScorerFeature } from "./gateDocument";
import { LAST_TOKENS, meanLogProbability, tokenConfidence } from "./tokenConfidence";

export type ScorerDocument = Extract<GateDocument, { readonly kind: "scorer" }>;

/** Inputs of a scorer that need log probabilities. */
export const readsLogProbabilities: ReadonlySet<ScorerFeature> = new Set([
  "minimum-probability",
  "mean-log-probability",
  "last-tokens-log-probability",
]);

/** The value of a scorer's input for an answer; null where the answer does not have it. */
export function answerFact(evidence: AnswerEvidence, feature: ScorerFeature, answer: Extraction): number | null {
  switch (feature) {
    case "minimum-probability":
      return tokenConfidence(evidence, { measure: "minimum" });
    case "mean-log-probability":
      return meanLogProbability(evidence.tokens);
    case "last-tokens-log-probability":
      return meanLogProbability(evidence.tokens, LAST_TOKENS);
    case "log-answer-tokens":
      return Math.log1p(Math.max(0, evidence.outputTokens));
    case "log-prompt-tokens":
      return Math.log1p(Math.max(0, evidence.inputTokens));
    case "has-extractable-answer":
      return hasAnswer(evidence.answer, answer) ? 1 : 0;
    case "ended-by-length":
      return evidence.endedByLength ? 1 : 0;
  }
}

/** What a scorer reads of one answer. */
export interface ScoredAnswer {
  /** The value of an input; null where the answer does not have it, which counts as the mean of the training answers. */
  factOf(feature: ScorerFeature): number | null;
  /** Asked of scorers alone that read words. */
  words(): AnswerWords;
}

/** Probability, 0..1, that an answer is right by a scorer. */
export function scorerProbability({ bias, weights, words }: LearntScorer, answer: ScoredAnswer): number {
  let logit = bias;
  for (const { feature, mean, scale, weight } of weights) {
    const value = answer.factOf(feature);
    if (value !== null) logit += (weight * (value - mean)) / scale;
  }
  if (words !== undefined) logit += wordsLogit(words, answer.words());
  return 1 / (1 + Math.exp(-logit));
}
