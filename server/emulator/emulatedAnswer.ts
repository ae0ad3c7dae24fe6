import { isRightLabel } from "@/solver/judging/agreement";
import { mixSeed } from "@/solver/numeric/random";

/** Short, plain words: an emulated answer should be recognisable as such. */
const WORDS = ["the", "water", "runs", "over", "a", "low", "wall", "and", "on", "to", "next", "pool"] as const;

/** Final answers if outcomes only say whether they are right. */
const LETTERS = ["A", "B", "C", "D"] as const;

/** A judge may get only the end of a long answer, so the tag is repeated after this many tokens. */
const TAG_EVERY_TOKENS = 1000;

const TAG = /\[emulated answer ([^\]\n]+) by ([^\]\s]+)\]/g;

/** Text of an emulated answer, token by token. The first token is the tag that says which answer it is. */
export function answerToken(promptId: string, model: string, index: number): string {
  if (index % TAG_EVERY_TOKENS === 0) return `${index === 0 ? "" : " "}[emulated answer ${promptId} by ${model}]`;
  return ` ${WORDS[mixSeed(promptId, index) % WORDS.length]}`;
}

/**
 * The letter with which a model answers a prompt: the same from all models that are right; each wrong one has its own guess among the
 * others.
 */
export function answerLetter(promptId: string, model: string, label: number): string {
  const right = mixSeed("right letter", promptId) % LETTERS.length;
  const guess = 1 + (mixSeed("wrong letter", promptId, model) % (LETTERS.length - 1));
  return LETTERS[(isRightLabel(label) ? right : right + guess) % LETTERS.length] as string;
}

/** Which prompt and model the last tag in a text names; null when there is none. */
export function readAnswerTag(text: string): { readonly promptId: string; readonly model: string } | null {
  const [, promptId, model] = [...text.matchAll(TAG)].at(-1) ?? [];
  return promptId === undefined || model === undefined ? null : { promptId, model };
}

/** Tokens of the emulated answers within a text: from the first tag on each word is one, and so is a tag. 0 if there is none. */
export function shownAnswerTokens(text: string): number {
  const from = text.search(TAG);
  return from < 0 ? 0 : text.slice(from).replaceAll(TAG, "tag").trim().split(/\s+/).length;
}
