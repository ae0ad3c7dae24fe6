import type { LoadedModel } from "./loadedModel";

/** The text of an answer as its tokens come. */
export interface AnswerText {
  /** Adds a token; gives the text that is certain now, and the stop text that ended the answer, if one did and `mayStop`. */
  add(token: number, mayStop: boolean): { readonly text: string; readonly stop: string | null };
  /** The rest that was held back, at the end of the answer. */
  rest(): string;
}

/** Bytes of an incomplete character. */
const incomplete = "\uFFFD";
/** A character has at most so many bytes, and a token at least one. */
const longestCharacter = 4;
/** Tokens before, by which a tokenizer decides on a leading blank. */
const kept = 3;

/** Text holds back an incomplete character and what may be the beginning of a stop text, which itself is never given. */
export function createAnswerText(model: Pick<LoadedModel, "detokenize">, stops: readonly string[]): AnswerText {
  let before: readonly number[] = [];
  let pending: number[] = [];
  let held = "";

  function decoded(isLast: boolean): string {
    const text = model.detokenize(pending, before, false);
    if (!isLast && text.endsWith(incomplete) && pending.length < longestCharacter) return "";
    before = [...before, ...pending].slice(-kept);
    pending = [];
    return text;
  }

  return {
    add(token, mayStop) {
      pending.push(token);
      held += decoded(false);
      if (!mayStop) {
        const text = held;
        held = "";
        return { text, stop: null };
      }
      const found = stops.map((stop) => ({ stop, at: held.indexOf(stop) })).filter(({ at }) => at >= 0);
      const first = found.sort((left, right) => left.at - right.at)[0];
      if (first !== undefined) {
        const text = held.slice(0, first.at);
        held = "";
        pending = [];
        return { text, stop: first.stop };
      }
      const certain = held.length - Math.max(0, ...stops.map((stop) => overlapOf(held, stop)));
      const text = held.slice(0, certain);
      held = held.slice(certain);
      return { text, stop: null };
    },
    rest() {
      const text = held + (pending.length > 0 ? decoded(true) : "");
      held = "";
      return text;
    },
  };
}

/** Length of the longest end of `text` with which `stop` begins. */
function overlapOf(text: string, stop: string): number {
  for (let length = Math.min(text.length, stop.length - 1); length > 0; length--) if (text.endsWith(stop.slice(0, length))) return length;
  return 0;
}
