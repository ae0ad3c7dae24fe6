import { conversationText } from "@/solver/judging/conversation";
import { chatAnswer } from "@/solver/judging/judgeCall";
import { completionEvents } from "./completionEvents";
import { type Endpoint, severalAnswers } from "./endpoint";

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
