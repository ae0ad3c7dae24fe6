import type { AnswerEnd } from "./answerEnd";
import { promptPieces, type ScoredToken, scoredToken, tokenId } from "./emulatedTokens";
import type { Generation } from "./generation";
import type { GenerationRequest } from "./generationRequest";
import { callDelta, writtenCalls } from "./toolCall";

/** New tokens of one choice of an answer, and their text, which a stop text may have cut. */
export interface Part {
  readonly choice: number;
  readonly text: string;
  readonly tokens: readonly ScoredToken[];
  /** Characters of the choice before this part. */
  readonly offset: number;
  readonly generation: Generation;
  readonly end: AnswerEnd | null;
  /** Nothing of the choice was sent before. */
  readonly isFirst: boolean;
}

/** How an endpoint writes answers: vLLM's fields, in vLLM's order. */
export interface AnswerFormat {
  readonly idPrefix: string;
  readonly object: string;
  readonly chunkObject: string;
  /** More fields of the usage so far in an event of a stream. */
  readonly runningUsage: object;
  /** Choices of the first event, which carries no token; null: there is no such event. */
  firstChunk(choice: number): object | null;
  /** More fields of that event. */
  firstChunkFields(generation: Generation, request: GenerationRequest): object;
  /** A choice in an event of a stream. */
  piece(part: Part, request: GenerationRequest): object;
  /** A choice of a whole answer. */
  wholeChoice(part: Part, request: GenerationRequest): object;
  /** Fields of a whole answer after its usage. */
  answerFields(generations: readonly Generation[], request: GenerationRequest): object;
}

/** Ids of a prompt's tokens. */
const promptIds = ({ prompt, inputTokens }: Generation): readonly number[] => promptPieces(prompt, inputTokens).map(tokenId);

/** A prompt's tokens with made-up log probabilities, from the second on. */
function scoredPrompt({ prompt, inputTokens, promptProbability }: Generation, others: number): readonly ScoredToken[] {
  return promptPieces(prompt, inputTokens).map((piece, index) => scoredToken(piece, promptProbability(index), others));
}

/** vLLM's list of a prompt's log probabilities, by token id; the first token has none. */
const promptLogprobs = (generation: Generation, { promptLogprobs: wanted }: GenerationRequest) =>
  wanted === null
    ? null
    : scoredPrompt(generation, Math.max(0, wanted - 1)).map((token, index) =>
        index === 0
          ? null
          : Object.fromEntries(
              [token, ...token.others].map(({ text, logprob }, at) => [tokenId(text), { logprob, rank: at + 1, decoded_token: text }]),
            ),
      );

const named = ({ text, logprob }: { readonly text: string; readonly logprob: number }) => ({
  token: text,
  logprob,
  bytes: [...Buffer.from(text)],
});

const chatLogprobs = (tokens: readonly ScoredToken[], { logprobs }: GenerationRequest) =>
  logprobs === null
    ? null
    : { content: tokens.map((token) => ({ ...named(token), top_logprobs: [token, ...token.others].slice(0, logprobs).map(named) })) };

/** @param unscored tokens at the start that have no log probability: the first of a prompt. */
function textLogprobs(tokens: readonly ScoredToken[], offset: number, unscored: number) {
  let at = offset;
  return {
    text_offset: tokens.map(({ text }) => {
      at += text.length;
      return at - text.length;
    }),
    token_logprobs: tokens.map(({ logprob }, index) => (index < unscored ? null : logprob)),
    tokens: tokens.map(({ text }) => text),
    top_logprobs: tokens.map((token, index) =>
      index < unscored ? null : Object.fromEntries([token, ...token.others].map(({ text, logprob }) => [text, logprob])),
    ),
  };
}

const ids = (tokens: readonly ScoredToken[], { tokenIds }: GenerationRequest) =>
  tokenIds ? tokens.map(({ text }) => tokenId(text)) : null;

/** What an event of a stream adds to a chat's answer. */
function deltaOf({ text, end, isFirst }: Part, { call }: GenerationRequest): object {
  // An end without text has an empty delta where a parser of tool calls reads along.
  if (end !== null && text === "") return {};
  return call === null ? { content: text } : callDelta(text, isFirst);
}

/** Why a choice of a chat ends; null: it goes on. */
const finishReason = ({ end }: Part, { call }: GenerationRequest): string | null =>
  (end?.reason === "stop" ? call?.reason : undefined) ?? end?.reason ?? null;

export const chatFormat: AnswerFormat = {
  idPrefix: "chatcmpl-",
  object: "chat.completion",
  chunkObject: "chat.completion.chunk",
  runningUsage: { completion_tokens_details: null },
  firstChunk: (choice) => ({ index: choice, delta: { role: "assistant", content: "" }, logprobs: null, finish_reason: null }),
  firstChunkFields: (generation, { tokenIds }) => ({ prompt_token_ids: tokenIds ? promptIds(generation) : null, prompt_text: null }),
  piece: (part, request) => ({
    index: part.choice,
    delta: deltaOf(part, request),
    logprobs: chatLogprobs(part.tokens, request),
    finish_reason: finishReason(part, request),
    ...(part.end !== null && { stop_reason: part.end.stopText }),
    token_ids: ids(part.tokens, request),
  }),
  wholeChoice: (part, request) => ({
    index: part.choice,
    message: {
      role: "assistant",
      content: request.call === null ? part.text : "",
      refusal: null,
      annotations: null,
      audio: null,
      function_call: null,
      ...(request.call !== null && { tool_calls: writtenCalls(request.call, part.text) }),
      reasoning: null,
    },
    logprobs: chatLogprobs(part.tokens, request),
    finish_reason: finishReason(part, request),
    stop_reason: part.end?.stopText ?? null,
    token_ids: ids(part.tokens, request),
    routed_experts: null,
  }),
  answerFields: ([generation], request) => ({
    prompt_logprobs: generation === undefined ? null : promptLogprobs(generation, request),
    prompt_token_ids: request.tokenIds && generation !== undefined ? promptIds(generation) : null,
    prompt_text: null,
    kv_transfer_params: null,
    ec_transfer_params: null,
    metrics: null,
  }),
};

/** The text and the log probabilities of a part, with the prompt before the first one if it is echoed. */
function textParts({ text, tokens, offset, generation, isFirst }: Part, request: GenerationRequest) {
  const { echo, logprobs, maxTokens } = request;
  const echoes = echo && isFirst;
  const own = maxTokens === 0 ? [] : tokens;
  const before = echoes && logprobs !== null ? scoredPrompt(generation, Math.max(0, logprobs - 1)) : [];
  return {
    text: (echoes ? generation.prompt : "") + (maxTokens === 0 ? "" : text),
    logprobs:
      logprobs === null
        ? null
        : textLogprobs([...before, ...own], echo && !isFirst ? generation.prompt.length + offset : offset, echoes ? 1 : 0),
  };
}

export const textFormat: AnswerFormat = {
  idPrefix: "cmpl-",
  object: "text_completion",
  chunkObject: "text_completion",
  runningUsage: {},
  firstChunk: () => null,
  firstChunkFields: () => ({}),
  piece: (part, request) => ({
    index: part.choice,
    ...textParts(part, request),
    finish_reason: part.end?.reason ?? null,
    stop_reason: part.end?.stopText ?? null,
    prompt_token_ids: request.tokenIds && part.isFirst ? promptIds(part.generation) : null,
    token_ids: ids(part.tokens, request),
  }),
  wholeChoice: (part, request) => ({
    index: part.choice,
    ...textParts(part, request),
    finish_reason: part.end?.reason ?? null,
    stop_reason: part.end?.stopText ?? null,
    token_ids: ids(part.tokens, request),
    prompt_logprobs: promptLogprobs(part.generation, request),
    prompt_token_ids: request.tokenIds ? promptIds(part.generation) : null,
    routed_experts: null,
  }),
  answerFields: () => ({ kv_transfer_params: null, ec_transfer_params: null, metrics: null }),
};
