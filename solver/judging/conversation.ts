import { isRecord } from "../collections/isRecord";
/** A conversation in the form for a judge and a person: a line for each message, its role before its text and its calls. */
export const conversationText = (messages: readonly unknown[]): string => messages.map(messageLine).join("\n");

function messageLine(message: unknown): string {
  return isRecord(message) ? `${String(message.role)}: ${messageText(message)}` : "";
}

/** The text of a message, also of one that a model answered, followed by its tool calls, as JSON. */
export function messageText({ content, tool_calls: calls }: Readonly<Record<string, unknown>>): string {
  const called = Array.isArray(calls) && calls.length > 0 ? JSON.stringify(calls) : "";
  return [textOfContent(content), called].filter(Boolean).join("\n");
}

function textOfContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (isRecord(part) && typeof part.text === "string" ? part.text : "")).join("");
}
