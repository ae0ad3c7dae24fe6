import type { ServerResponse } from "node:http";
import { type ApiError, errorBody, sendError, sendJson } from "@/server/contracts/http/apiServer";

type FinishReason = "stop" | "length";

/** The content and recipient of a completion. */
export interface Completion {
  readonly id: string;
  readonly model: string;
  readonly createdSeconds: number;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly promptTokens: number;
  /** Text of the token at an index. */
  readonly token: (index: number) => string;
}

/** Writes one chat completion as its tokens are generated. */
export interface CompletionWriter {
  /** Reports that `count` tokens exist; a stream sends the new ones, one event per token. */
  generated(count: number): void;
  /** Ends the answer with `count` tokens. */
  finish(count: number, reason: FinishReason): void;
  /** Ends it with an error: the status of an answer that has not begun, an error event in a stream. */
  fail(error: ApiError): void;
}

/** A client that reads more slowly than tokens are generated gets nothing more until its unread bytes are below this. */
const MAX_UNREAD_BYTES = 1_000_000;

/** The writer for a response, in vLLM's byte format. The completion determines whether it streams. */
export function createCompletionWriter(response: ServerResponse, completion: Completion): CompletionWriter {
  return completion.stream ? streamWriter(response, completion) : wholeWriter(response, completion);
}

const usage = ({ promptTokens }: Completion, completionTokens: number) => ({
  prompt_tokens: promptTokens,
  total_tokens: promptTokens + completionTokens,
  completion_tokens: completionTokens,
});

function wholeWriter(response: ServerResponse, completion: Completion): CompletionWriter {
  return {
    generated: () => undefined,
    finish(count, reason) {
      let content = "";
      for (let index = 0; index < count; index++) content += completion.token(index);
      const message = { role: "assistant", content, tool_calls: [] };
      sendJson(response, 200, {
        id: completion.id,
        object: "chat.completion",
        created: completion.createdSeconds,
        model: completion.model,
        choices: [{ index: 0, message, logprobs: null, finish_reason: reason, stop_reason: null }],
        usage: usage(completion, count),
      });
    },
    fail: (error) => sendError(response, error),
  };
}

function streamWriter(response: ServerResponse, completion: Completion): CompletionWriter {
  const head = `data: {"id":${JSON.stringify(completion.id)},"object":"chat.completion.chunk","created":${completion.createdSeconds},"model":${JSON.stringify(completion.model)},"choices":[`;
  const choice = (delta: string, rest: string): string =>
    `${head}{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${rest}}]}\n\n`;
  let sent = 0;
  // Headers are sent at once, as in vLLM; the role is sent with the first token.
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  response.flushHeaders();

  const pieces = (count: number): string => {
    let events = sent === 0 && count > 0 ? choice('{"role":"assistant","content":""}', "null") : "";
    for (; sent < count; sent++) events += choice(`{"content":${JSON.stringify(completion.token(sent))}}`, "null");
    return events;
  };
  return {
    generated(count) {
      if (count > sent && response.writableLength < MAX_UNREAD_BYTES) response.write(pieces(count));
    },
    finish(count, reason) {
      const used = completion.includeUsage ? `${head}],"usage":${JSON.stringify(usage(completion, count))}}\n\n` : "";
      response.end(`${pieces(count)}${choice('{"content":""}', `"${reason}","stop_reason":null`)}${used}data: [DONE]\n\n`);
    },
    fail: (error) => void response.end(`data: ${errorBody(error)}\n\ndata: [DONE]\n\n`),
  };
}
