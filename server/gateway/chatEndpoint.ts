import { conversationText, messageText } from "@/solver/judging/conversation";
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
    prompt: ({ messages }) => (Array.isArray(messages) ? conversationText(messages) : ""),
    answer: chatAnswer,
    events: completionEvents,
  },
};

/** The text of a chat completion's first choice and the calls it makes; null when there is no choice. */
export function chatAnswer(completion: unknown): string | null {
  const choice = isRecord(completion) && Array.isArray(completion.choices) ? completion.choices[0] : undefined;
  const message = isRecord(choice) ? choice.message : undefined;
  return isRecord(message) ? messageText(message) : null;
}
