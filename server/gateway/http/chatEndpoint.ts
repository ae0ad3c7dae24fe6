import { isRecord } from "@/solver/collections/isRecord";
import { conversationText } from "@/solver/judging/conversation";
import { chatAnswer } from "@/solver/judging/judgeCall";
import { completionEvents } from "./completionEvents";
import { answerTokens, type Endpoint, severalAnswers } from "./endpoint";

/** `/v1/chat/completions`. */
export const chatEndpoint: Endpoint = {
  path: "/v1/chat/completions",
  enginePath: "/v1/chat/completions",
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
    // `top_logprobs` without `logprobs` is for the engine to refuse.
    tokenFields: ({ logprobs, top_logprobs: top }) => (logprobs === true || top ? null : { logprobs: true }),
    tokens(completion) {
      const choice = isRecord(completion) && Array.isArray(completion.choices) ? completion.choices[0] : undefined;
      const { content } = isRecord(choice) && isRecord(choice.logprobs) ? choice.logprobs : {};
      if (!Array.isArray(content)) return null;
      const tokens = content.map((token) => (isRecord(token) ? token : {}));
      return answerTokens(
        tokens.map(({ token }) => token),
        tokens.map(({ logprob }) => logprob),
      );
    },
    events: completionEvents,
  },
};
