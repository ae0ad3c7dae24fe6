import type { Generation } from "./generation";
import type { GenerationRequest } from "./generationRequest";

/** Where an answer ends, and why. */
export interface AnswerEnd {
  readonly tokens: number;
  readonly reason: "stop" | "length";
  /** The text before which it ends; null: none. */
  readonly stopText: string | null;
  /** Characters of the answer that the client gets; those of all tokens, unless a stop text ends it. */
  readonly characters: number;
}

/**
 * Where the answer to a request ends: at the end that the outcomes give it, before a stop text, or at the limit.
 * @param room tokens that fit into the context behind the prompt, at least 1.
 */
export function answerEnd(generation: Generation, request: GenerationRequest, room: number): AnswerEnd {
  const { maxTokens, minTokens, ignoreEos, stop } = request;
  const limit = Math.max(1, Math.min(maxTokens ?? room, room));
  const natural = ignoreEos ? Number.POSITIVE_INFINITY : Math.max(generation.outputTokens, minTokens);
  const tokens = Math.min(natural, limit);
  const reason = natural <= limit ? "stop" : "length";
  if (stop.length === 0) return { tokens, reason, stopText: null, characters: Number.POSITIVE_INFINITY };
  let text = "";
  for (let index = 0; index < tokens; index++) {
    const longest = Math.max(...stop.map(({ length }) => length));
    const from = Math.max(0, text.length - longest + 1);
    text += generation.token(index);
    if (index + 1 < minTokens) continue;
    const found = stop.map((one) => ({ one, at: text.indexOf(one, from) })).filter(({ at }) => at >= 0);
    const first = found.sort((left, right) => left.at - right.at)[0];
    if (first !== undefined) return { tokens: index + 1, reason: "stop", stopText: first.one, characters: first.at };
  }
  return { tokens, reason, stopText: null, characters: Number.POSITIVE_INFINITY };
}
