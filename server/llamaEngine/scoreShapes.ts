import type { LoadedModel } from "./loadedModel";
import type { ScoredToken } from "./request";

/** A token with its text; `score` null: the first token of a prompt, before which there is nothing. */
export interface TextToken {
  readonly text: string;
  readonly score: ScoredToken | null;
}

type Texts = (token: number) => string;

/** The text of a token by itself, special tokens included. */
export const textsOf =
  (model: Pick<LoadedModel, "detokenize">): Texts =>
  (token) =>
    model.detokenize([token], [], true);

const bytesOf = (text: string): readonly number[] => [...Buffer.from(text)];

/** Log probabilities as the chat API gives them. */
export function chatLogprobs(tokens: readonly TextToken[], textOf: Texts, top: number) {
  const content = tokens.flatMap(({ text, score }) => {
    if (score === null) return [];
    const others = score.top.slice(0, top).map(({ token, logprob }) => {
      const other = token === score.token ? text : textOf(token);
      return { token: other, logprob, bytes: bytesOf(other) };
    });
    return [{ token: text, logprob: score.logprob, bytes: bytesOf(text), top_logprobs: others }];
  });
  return { content };
}

/** Log probabilities as the completions API gives them; `offset`: characters before the first token. */
export function completionLogprobs(tokens: readonly TextToken[], textOf: Texts, offset: number) {
  let at = offset;
  const offsets = tokens.map(({ text }) => {
    const own = at;
    at += text.length;
    return own;
  });
  return {
    text_offset: offsets,
    token_logprobs: tokens.map(({ score }) => score?.logprob ?? null),
    tokens: tokens.map(({ text }) => text),
    top_logprobs: tokens.map(({ text, score }) =>
      score === null
        ? null
        : Object.fromEntries(score.top.map(({ token, logprob }) => [token === score.token ? text : textOf(token), logprob])),
    ),
  };
}
