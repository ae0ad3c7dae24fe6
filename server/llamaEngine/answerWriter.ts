import type { ServerResponse } from "node:http";
import { type ApiError, errorBody, STOPPED, sendError, sendJson } from "@/server/contracts/http/apiServer";
import { reasonOf } from "@/server/lib/reasonOf";
import { type AnswerPart, chunkBody, roleChunk, type ShapeOptions, usageChunk, usageOf, wholeBody } from "./answerShapes";
import type { Interruption } from "./batcher";
import type { GenerationListener } from "./generation";
import type { ParsedRequest, ScoredToken } from "./request";
import type { TextToken } from "./scoreShapes";

export type AnswerWriter = Omit<GenerationListener, "onStart">;

export interface WriterOptions extends Omit<ShapeOptions, "asked"> {
  readonly asked: ParsedRequest;
}

/** Writes one answer, whole or as a stream of events in vLLM's form. */
export function createAnswerWriter(response: ServerResponse, options: WriterOptions): AnswerWriter {
  const write = options.asked.stream ? streamWriter(response, options) : wholeWriter(response, options);
  const { asked, textOf } = options;
  let generated = 0;
  let offset = 0;
  const send = (text: string, tokens: readonly TextToken[], ending: AnswerPart["ending"] = null): void => {
    write.part({ text, tokens, offset, ending });
    for (const token of tokens) offset += token.text.length;
  };
  return {
    onPrompt(scores) {
      write.begin();
      if (asked.echo !== null) send(asked.echo, asked.request.scorePrompt ? promptTokens(asked, scores, textOf) : []);
    },
    onPiece({ text, tokenText, score }) {
      generated += 1;
      send(text, [{ text: tokenText, score }]);
    },
    onEnd(ending, rest) {
      send(rest, [], ending);
      write.end(usageOf(asked.request.prompt.length, generated));
    },
    onProblem: (problem) => write.fail(problemError(problem)),
  };
}

interface PartWriter {
  begin(): void;
  part(part: AnswerPart): void;
  end(usage: ReturnType<typeof usageOf>): void;
  fail(error: ApiError): void;
}

const promptTokens = (asked: ParsedRequest, scores: readonly ScoredToken[], textOf: ShapeOptions["textOf"]): readonly TextToken[] =>
  asked.request.prompt.map((token, index) => ({ text: textOf(token), score: index === 0 ? null : (scores[index - 1] ?? null) }));

function wholeWriter(response: ServerResponse, options: ShapeOptions): PartWriter {
  const texts: string[] = [];
  const tokens: TextToken[] = [];
  let ending: AnswerPart["ending"] = null;
  return {
    begin: () => undefined,
    part(part) {
      texts.push(part.text);
      tokens.push(...part.tokens);
      ending = part.ending;
    },
    end: (usage) => sendJson(response, 200, { ...wholeBody({ text: texts.join(""), tokens, offset: 0, ending }, options), usage }),
    fail: (error) => sendError(response, error),
  };
}

function streamWriter(response: ServerResponse, options: WriterOptions): PartWriter {
  const event = (body: unknown): string => `data: ${JSON.stringify(body)}\n\n`;
  return {
    begin() {
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
      response.flushHeaders();
      if (options.asked.api === "chat") response.write(event(roleChunk(options)));
    },
    part: (part) => void response.write(event(chunkBody(part, options))),
    end: (usage) => void response.end(`${options.asked.includeUsage ? event(usageChunk(options, usage)) : ""}data: [DONE]\n\n`),
    fail(error) {
      if (response.headersSent) response.end(`data: ${errorBody(error)}\n\ndata: [DONE]\n\n`);
      else sendError(response, error);
    },
  };
}

function problemError(problem: Interruption): ApiError {
  if (problem.kind === "failed") {
    return { status: 500, type: "InternalServerError", message: `The model failed: ${reasonOf(problem.error)}` };
  }
  return STOPPED;
}
