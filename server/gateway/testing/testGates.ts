import type { ServerResponse } from "node:http";
import type { Asked } from "./testEngine";

/** A token of an answer and its probability. */
export type ScoredPart = readonly [text: string, probability: number];

/** What an engine answers besides its tokens. */
interface Said {
  readonly toolCalls?: readonly unknown[];
  readonly finishReason?: string;
}

/** Answers a chat as vLLM does: with the log probabilities of the tokens if the request asks for them, else with null. */
export function sayScored({ body }: Asked, response: ServerResponse, parts: readonly ScoredPart[], said: Said = {}): void {
  const { toolCalls, finishReason = "stop" } = said;
  const content = parts.map(([token, probability]) => {
    return { token, logprob: Math.log(probability), bytes: [...Buffer.from(token)], top_logprobs: [] };
  });
  const message = { role: "assistant", content: parts.map(([text]) => text).join(""), ...(toolCalls && { tool_calls: toolCalls }) };
  const logprobs = body.logprobs === true ? { content } : null;
  response.writeHead(200, { "content-type": "application/json" }).end(
    JSON.stringify({
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: body.model,
      choices: [{ index: 0, message, logprobs, finish_reason: finishReason, stop_reason: null }],
      usage: { prompt_tokens: 7, completion_tokens: parts.length, total_tokens: 7 + parts.length },
    }),
  );
}
