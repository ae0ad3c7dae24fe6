import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type ApiError, errorBody, sendError, sendJson } from "@/server/contracts/http/apiServer";
import type { AnswerEnd } from "./answerEnd";
import { type AnswerFormat, chatFormat, type Part, textFormat } from "./answerFormat";
import { type ScoredToken, scoredToken } from "./emulatedTokens";
import type { Generation } from "./generation";
import type { GenerationRequest } from "./generationRequest";

/** What is to be written: `request.choices` answers to each prompt, in the order of the prompts. */
export interface Answer {
  readonly model: string;
  readonly request: GenerationRequest;
  /** One for each prompt. */
  readonly generations: readonly Generation[];
}

/** Writes the answer to one request as its tokens are generated. */
export interface AnswerWriter {
  /** Reports that a choice has `count` tokens, and where it ends; a stream sends the new ones, one event per token. */
  generated(choice: number, count: number, end: AnswerEnd): void;
  /** Ends a choice; the last one ends the answer. */
  finish(choice: number, end: AnswerEnd): void;
  /** Ends the answer with an error: the status of an answer that has not begun, an error event in a stream. */
  fail(error: ApiError): void;
}

/** A client that reads more slowly than tokens are generated gets nothing more until its unread bytes are below this. */
const MAX_UNREAD_BYTES = 1_000_000;

/** Called wherever vLLM's parser of tool calls reads: for each choice of a whole answer, for each new token of a stream, and at its end. */
type OnToolsRead = (isCall: boolean) => void;

/** The writer for a response, in vLLM's byte format. The request determines whether it streams. */
export function createAnswerWriter(response: ServerResponse, answer: Answer, onToolsRead: OnToolsRead): AnswerWriter {
  return answer.request.stream ? streamWriter(response, answer, onToolsRead) : wholeWriter(response, answer, onToolsRead);
}

const formatOf = ({ endpoint }: GenerationRequest): AnswerFormat => (endpoint === "chat" ? chatFormat : textFormat);

const idOf = (format: AnswerFormat): string => `${format.idPrefix}${randomUUID().replaceAll("-", "").slice(16)}`;

/** vLLM's names its version and configuration. */
const FINGERPRINT = "vllm-emulated";

const createdSeconds = (): number => Math.floor(Date.now() / 1000);

function usageOf({ generations }: Answer, completionTokens: number) {
  const promptTokens = generations.reduce((total, { inputTokens }) => total + inputTokens, 0);
  return { prompt_tokens: promptTokens, total_tokens: promptTokens + completionTokens, completion_tokens: completionTokens };
}

/** One choice as it is written. */
interface Choice {
  readonly generation: Generation;
  /** Tokens that were sent, and the characters of their text. */
  sent: number;
  characters: number;
  ended: boolean;
}

const choicesOf = ({ generations, request }: Answer): readonly Choice[] =>
  generations.flatMap((generation) =>
    Array.from({ length: request.choices }, () => ({ generation, sent: 0, characters: 0, ended: false })),
  );

/** The tokens of a choice from those that were sent up to `count`; marks them as sent. */
function nextPart(
  choices: readonly Choice[],
  index: number,
  request: GenerationRequest,
  { count, end, isLast }: { readonly count: number; readonly end: AnswerEnd; readonly isLast: boolean },
): Part {
  const choice = choices[index] as Choice;
  const { generation, sent, characters } = choice;
  // One of the named tokens is the token itself.
  const others = request.logprobs === null ? 0 : Math.max(0, request.logprobs - 1);
  const tokens: ScoredToken[] = [];
  let text = "";
  for (let at = sent; at < count; at++) {
    const token = generation.token(at);
    text += token;
    tokens.push(scoredToken(token, generation.probability(at), others));
  }
  text = text.slice(0, Math.max(0, end.characters - characters));
  choice.sent = count;
  choice.characters += text.length;
  return { choice: index, text, tokens, offset: characters, generation, end: isLast ? end : null, isFirst: sent === 0 };
}

function wholeWriter(response: ServerResponse, answer: Answer, onToolsRead: OnToolsRead): AnswerWriter {
  const { model, request } = answer;
  const format = formatOf(request);
  const choices = choicesOf(answer);
  const parts: Part[] = [];
  return {
    generated: () => undefined,
    finish(choice, end) {
      parts.push(nextPart(choices, choice, request, { count: end.tokens, end, isLast: true }));
      if (request.hasTools) onToolsRead(request.call !== null);
      if (parts.length < choices.length) return;
      parts.sort((left, right) => left.choice - right.choice);
      sendJson(response, 200, {
        id: idOf(format),
        object: format.object,
        created: createdSeconds(),
        model,
        choices: parts.map((part) => format.wholeChoice(part, request)),
        service_tier: null,
        system_fingerprint: FINGERPRINT,
        usage: {
          ...usageOf(
            answer,
            choices.reduce((total, { sent }) => total + sent, 0),
          ),
          prompt_tokens_details: null,
          completion_tokens_details: null,
        },
        ...format.answerFields(answer.generations, request),
      });
    },
    fail: (error) => sendError(response, error),
  };
}

function streamWriter(response: ServerResponse, answer: Answer, onToolsRead: OnToolsRead): AnswerWriter {
  const { model, request } = answer;
  const format = formatOf(request);
  const choices = choicesOf(answer);
  const head = `data: {"id":${JSON.stringify(idOf(format))},"object":"${format.chunkObject}","created":${createdSeconds()},"model":${JSON.stringify(model)},"choices":[`;
  let opened = false;
  // Headers are sent at once, as in vLLM; the role is sent with the first token.
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  response.flushHeaders();

  const running = ({ generation, sent }: Choice): string =>
    request.usage.running
      ? `,"usage":${JSON.stringify({ ...usageOf({ ...answer, generations: [generation] }, sent), ...format.runningUsage })}`
      : "";
  const firstChunks = (): string => {
    if (opened) return "";
    opened = true;
    return choices
      .map((choice, index) => {
        const first = format.firstChunk(index);
        if (first === null) return "";
        const more = JSON.stringify(format.firstChunkFields(choice.generation, request)).slice(1, -1);
        return `${head}${JSON.stringify(first)}]${running(choice)}${more === "" ? "" : `,${more}`}}\n\n`;
      })
      .join("");
  };
  /** The event of a choice's tokens up to `count`; empty for a token of a call that adds no text to it. */
  const event = (index: number, count: number, end: AnswerEnd, isLast: boolean): string => {
    const part = nextPart(choices, index, request, { count, end, isLast });
    const isCall = request.call !== null && part.text !== "";
    if (request.hasTools) onToolsRead(isCall);
    if (request.call !== null && !isCall && !isLast) return "";
    // The last event of all carries the fingerprint.
    const fingerprint = isLast && !request.usage.last ? `,"system_fingerprint":"${FINGERPRINT}"` : "";
    return `${head}${JSON.stringify(format.piece(part, request))}]${running(choices[index] as Choice)}${fingerprint}}\n\n`;
  };
  /** The events of all tokens of a choice before `count`. */
  const events = (index: number, count: number, end: AnswerEnd): string => {
    let text = "";
    for (let at = (choices[index] as Choice).sent; at < count; at++) text += event(index, at + 1, end, false);
    return text;
  };
  return {
    generated(index, count, end) {
      const choice = choices[index] as Choice;
      // The last token goes with the reason for which the answer ends.
      const upTo = isNaturalEnd(end) ? count : Math.min(count, end.tokens - 1);
      if (count <= choice.sent || response.writableLength >= MAX_UNREAD_BYTES) return;
      const text = firstChunks() + events(index, upTo, end);
      if (text !== "") response.write(text);
    },
    finish(index, end) {
      const choice = choices[index] as Choice;
      let text = firstChunks() + events(index, isNaturalEnd(end) ? end.tokens : end.tokens - 1, end) + event(index, end.tokens, end, true);
      choice.ended = true;
      if (choices.some(({ ended }) => !ended)) return void response.write(text);
      if (request.usage.last) {
        const total = choices.reduce((sum, { sent }) => sum + sent, 0);
        text += `${head}],"usage":${JSON.stringify(usageOf(answer, total))},"system_fingerprint":"${FINGERPRINT}"}\n\n`;
      }
      response.end(`${text}data: [DONE]\n\n`);
    },
    fail: (error) => void response.end(`data: ${errorBody(error)}\n\ndata: [DONE]\n\n`),
  };
}

/** A model's own end is a token without text, in an event of its own; any other end comes with the last token. */
const isNaturalEnd = ({ reason, stopText }: AnswerEnd): boolean => reason === "stop" && stopText === null;
