import { mixSeed } from "@/solver/numeric/random";

/** Size of the made-up vocabulary. */
const VOCABULARY = 32_000;

/** An emulated engine has no tokenizer: a token's id is a hash of its text, the same every time. */
export const tokenId = (text: string): number => mixSeed("token", text) % VOCABULARY;

/** One of so many pieces of a text, which are of equal length except for rounding; empty behind the last. */
export const evenPiece = (text: string, index: number, pieces: number): string =>
  text.slice(Math.round((index * text.length) / pieces), Math.round(((index + 1) * text.length) / pieces));

/** The text in so many pieces of equal length except for rounding: the tokens of a prompt, whose number the outcomes give. */
export function promptPieces(text: string, tokens: number): readonly string[] {
  return Array.from({ length: tokens }, (_, index) => evenPiece(text, index, tokens));
}

/** A token, its log probability, and the most probable others at its position. */
export interface ScoredToken {
  readonly text: string;
  readonly logprob: number;
  readonly others: readonly { readonly text: string; readonly logprob: number }[];
}

/**
 * A token with made-up log probabilities: its own from `probability`, and the rest of the probability halved from one other token to the
 * next.
 * @param probability above 0 and at most 1.
 * @param others how many other tokens to name.
 */
export function scoredToken(text: string, probability: number, others: number): ScoredToken {
  return {
    text,
    logprob: Math.log(probability),
    others: Array.from({ length: others }, (_, index) => ({
      text: `other${index + 1}`,
      logprob: Math.log(Math.max((1 - probability) / 2 ** (index + 1), Number.MIN_VALUE)),
    })),
  };
}

/** A token's probability where nothing is known of it lies between this and 1. */
const LIKELY = 0.9;

/** Smallest probability: a score of 0 is not impossible. */
const SMALLEST = 1e-3;

/**
 * Made-up probabilities of an answer's and a prompt's tokens, by a hash of `name`. One of the answer's first tokens has the probability
 * that the judged score gives, as if it were read off the model's own confidence.
 * @param answer its judged score, 0 to 100, and its length in tokens; null: no score is known.
 */
export function syntheticProbabilities(name: string, answer: { readonly score: number; readonly tokens: number } | null) {
  const least = answer === null ? -1 : mixSeed("least", name) % answer.tokens;
  const likely = (part: string, index: number): number => LIKELY + ((1 - LIKELY) * (mixSeed(part, name, index) % 1000)) / 1000;
  return {
    probability: (index: number): number =>
      answer !== null && index === least ? Math.min(1, Math.max(SMALLEST, answer.score / 100)) : likely("answer", index),
    promptProbability: (index: number): number => likely("prompt", index),
  };
}
