import type { Ending, ParsedRequest } from "./request";
import type { TextToken } from "./scoreShapes";
import { chatLogprobs, completionLogprobs } from "./scoreShapes";

/** What all parts of an answer have in common. */
interface AnswerHead {
  readonly id: string;
  readonly model: string;
  readonly createdSeconds: number;
}

/** A part of an answer, or the whole of it. */
export interface AnswerPart {
  readonly text: string;
  readonly tokens: readonly TextToken[];
  /** Characters of tokens before. */
  readonly offset: number;
  /** null: more parts follow. */
  readonly ending: Ending | null;
}

export interface ShapeOptions {
  readonly head: AnswerHead;
  readonly asked: Pick<ParsedRequest, "api" | "request">;
  readonly textOf: (token: number) => string;
}

const endOf = (ending: Ending | null) => ({ finish_reason: ending?.reason ?? null, stop_reason: ending?.stop ?? null });

/** Log probabilities in the API's shape; null: they were not asked for. */
function logprobsOf({ tokens, offset }: AnswerPart, { asked, textOf }: ShapeOptions) {
  const { top } = asked.request;
  if (top === null) return null;
  return asked.api === "chat" ? chatLogprobs(tokens, textOf, top) : completionLogprobs(tokens, textOf, offset);
}

const objectOf = ({ head: { id, model, createdSeconds } }: ShapeOptions, object: string, choices: readonly unknown[]) => ({
  ...{ id, object, created: createdSeconds, model, choices },
});

/** The body of a whole answer, without its usage. */
export function wholeBody(part: AnswerPart, options: ShapeOptions) {
  const logprobs = logprobsOf(part, options);
  if (options.asked.api === "completion")
    return objectOf(options, "text_completion", [{ index: 0, text: part.text, logprobs, ...endOf(part.ending) }]);
  const message = { role: "assistant", content: part.text, tool_calls: [] };
  return objectOf(options, "chat.completion", [{ index: 0, message, logprobs, ...endOf(part.ending) }]);
}

/** A chunk of a stream. */
export function chunkBody(part: AnswerPart, options: ShapeOptions) {
  const logprobs = part.tokens.length === 0 ? null : logprobsOf(part, options);
  if (options.asked.api === "completion")
    return objectOf(options, "text_completion", [{ index: 0, text: part.text, logprobs, ...endOf(part.ending) }]);
  const end = part.ending === null ? { finish_reason: null } : endOf(part.ending);
  return objectOf(options, "chat.completion.chunk", [{ index: 0, delta: { content: part.text }, logprobs, ...end }]);
}

/** The first chunk of a chat's stream. */
export const roleChunk = (options: ShapeOptions) =>
  objectOf(options, "chat.completion.chunk", [
    { index: 0, delta: { role: "assistant", content: "" }, logprobs: null, finish_reason: null },
  ]);

/** The last chunk of a stream whose usage was asked for. */
export const usageChunk = (options: ShapeOptions, usage: Usage) => ({
  ...objectOf(options, options.asked.api === "chat" ? "chat.completion.chunk" : "text_completion", []),
  usage,
});

export interface Usage {
  readonly prompt_tokens: number;
  readonly total_tokens: number;
  readonly completion_tokens: number;
}

export const usageOf = (promptTokens: number, completionTokens: number): Usage => ({
  prompt_tokens: promptTokens,
  total_tokens: promptTokens + completionTokens,
  completion_tokens: completionTokens,
});
