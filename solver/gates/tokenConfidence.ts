import { answerRange, type Extraction } from "@/solver/judging/extract";
import type { AnswerEvidence } from "./gate";
import type { ConfidenceReading } from "./gateDocument";

/** Tokens that `last-tokens` reads where the document names no number: a short final sentence. */
export const LAST_TOKENS = 10;

/** An answer's tokens that have a log probability. */
export type AnswerTokens = NonNullable<AnswerEvidence["tokens"]>;

/** Whether two gates read the same number of an answer's tokens. */
export function isSameReading(one: ConfidenceReading, other: ConfidenceReading): boolean {
  if (one.measure !== other.measure) return false;
  switch (one.measure) {
    case "last-tokens":
      return (one.lastTokens ?? LAST_TOKENS) === (other.lastTokens ?? LAST_TOKENS);
    case "answer-span":
      return (one.answer ?? "whole") === (other.answer ?? "whole");
    default:
      return true;
  }
}

/**
 * One number, 0..1, from the token log probabilities of an answer ("Language Model Cascades: Token-level Uncertainty and Beyond", section 3,
 * names them): the minimum, the arithmetic mean of the probabilities, the exponential of the mean log probability (which divides by the
 * length), the same over the last tokens, and the minimum within the extracted answer. An answer without an extractable part is read whole.
 *
 * @returns null where no token has a log probability.
 */
export function tokenConfidence(evidence: Pick<AnswerEvidence, "answer" | "tokens">, reading: ConfidenceReading): number | null {
  const { answer, tokens } = evidence;
  if (tokens === null) return null;
  const all = known(tokens.logProbabilities);
  if (all.length === 0) return null;
  switch (reading.measure) {
    case "minimum":
      return Math.exp(least(all));
    case "mean":
      return average(all.map(Math.exp));
    case "length-normalised":
      return Math.exp(average(all));
    case "last-tokens":
      return Math.exp(average(all.slice(-(reading.lastTokens ?? LAST_TOKENS))));
    case "answer-span": {
      const span = answerSpan(answer, tokens.texts, reading.answer ?? "whole");
      const within = span === null ? all : known(tokens.logProbabilities.slice(span.from, span.to));
      return Math.exp(least(within.length === 0 ? all : within));
    }
  }
}

/** Mean log probability of the answer's last tokens; null where no token has one. */
export function meanLogProbability(tokens: AnswerTokens | null, lastTokens = Number.POSITIVE_INFINITY): number | null {
  const all = tokens === null ? [] : known(tokens.logProbabilities);
  return all.length === 0 ? null : average(Number.isFinite(lastTokens) ? all.slice(-lastTokens) : all);
}

/** How vLLM names a token where a request sets `return_tokens_as_token_ids`. */
const tokenNumber = /^token_id:\d+$/;

/**
 * The tokens that hold the extracted part of an answer, by their texts: from the first to before the second. Special tokens around the
 * answer's text are not searched. Null where it has none, or where the engine reports tokens by their numbers.
 */
function answerSpan(answer: string, texts: readonly string[], extract: Extraction): { readonly from: number; readonly to: number } | null {
  // The last one: what a model thinks before it answers may hold the same words.
  const joined = texts.join("");
  const offset = joined.lastIndexOf(answer);
  if (offset < 0 && texts.some((text) => tokenNumber.test(text))) return null;
  const range = answerRange(offset < 0 ? joined : answer, extract);
  if (range === null) return null;
  const [first, last] = [range.from + Math.max(0, offset), range.to + Math.max(0, offset)];
  let [from, to, at] = [-1, -1, 0];
  for (const [index, text] of texts.entries()) {
    const next = at + text.length;
    if (next > first && at < last) {
      if (from < 0) from = index;
      to = index + 1;
    }
    at = next;
  }
  return from < 0 ? null : { from, to };
}

/** Log probabilities that are numbers; rounding may put a certain token above 0. */
const known = (logProbabilities: ArrayLike<number>): number[] =>
  Array.from(logProbabilities).flatMap((each) => (Number.isNaN(each) ? [] : [Math.max(LEAST, Math.min(0, each))]));

/** The log probability of a token that an engine reports as impossible. It keeps means finite. */
const LEAST = -100;

const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The smallest value; spreading a long answer's tokens into Math.min would exceed the stack. */
const least = (values: readonly number[]): number => values.reduce((smallest, value) => Math.min(smallest, value), 0);
