import { messageText } from "@/solver/judging/conversation";

/** The part of a chat request that predictors read: the text of its last user message; empty where there is none. */
export function lastUserText(messages: readonly unknown[]): string {
  const message = messages.findLast((one) => typeof one === "object" && one !== null && "role" in one && one.role === "user");
  return message === undefined ? "" : messageText(message as Readonly<Record<string, unknown>>);
}
