import { mixSeed } from "@/solver/numeric/random";

/** Short, plain words: an emulated answer should be seen to be one. */
const WORDS = ["the", "water", "runs", "over", "a", "low", "wall", "and", "on", "to", "next", "pool"] as const;

/** A reader may be shown only the end of a long answer, so the tag comes again after this many tokens. */
const TAG_EVERY_TOKENS = 1000;

const TAG = /\[emulated answer ([^\]\n]+) by ([^\]\s]+)\]/g;

/** Text of an emulated answer, token by token. The first token is the tag that says which answer it is. */
export function answerToken(promptId: string, model: string, index: number): string {
  if (index % TAG_EVERY_TOKENS === 0) return `${index === 0 ? "" : " "}[emulated answer ${promptId} by ${model}]`;
  return ` ${WORDS[mixSeed(promptId, index) % WORDS.length]}`;
}

/** Which prompt and model the last tag in a text names; null when there is none. */
export function readAnswerTag(text: string): { readonly promptId: string; readonly model: string } | null {
  const [, promptId, model] = [...text.matchAll(TAG)].at(-1) ?? [];
  return promptId === undefined || model === undefined ? null : { promptId, model };
}
