import { completionEvents } from "./completionEvents";
import { type Endpoint, severalAnswers } from "./endpoint";
import { isRecord } from "./isRecord";

/** `/v1/chat/completions`. */
export const chatEndpoint: Endpoint = {
  path: "/v1/chat/completions",
  operation: "chat",
  answersIn: "choices",
  refusal: ({ messages }) =>
    Array.isArray(messages) && messages.length > 0
      ? null
      : { message: "`messages` must be a list with at least one message.", param: "messages" },
  text: {
    cascadeRefusal: severalAnswers,
    prompt: ({ messages }) => (Array.isArray(messages) ? messages.map(textOfMessage).join("\n") : ""),
    answer: chatAnswer,
    events: completionEvents,
  },
};

/** The text of a chat completion's first choice and the calls it makes; null when there is no choice. */
export function chatAnswer(completion: unknown): string | null {
  const choice = isRecord(completion) && Array.isArray(completion.choices) ? completion.choices[0] : undefined;
  const message = isRecord(choice) ? choice.message : undefined;
  return isRecord(message) ? textAndCalls(message) : null;
}

function textOfMessage(message: unknown): string {
  return isRecord(message) ? `${String(message.role)}: ${textAndCalls(message)}` : "";
}

function textAndCalls({ content, tool_calls: calls }: Record<string, unknown>): string {
  const called = Array.isArray(calls) && calls.length > 0 ? JSON.stringify(calls) : "";
  return [textOfContent(content), called].filter(Boolean).join("\n");
}

function textOfContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (isRecord(part) && typeof part.text === "string" ? part.text : "")).join("");
}
