import { isRecord } from "../collections/isRecord";
/** A conversation as a judge and a person read it: a line for each message, its role before what it says and the calls it makes. */
export const conversationText = (messages: readonly unknown[]): string => messages.map(messageLine).join("\n");

function messageLine(message: unknown): string {
  return isRecord(message) ? `${String(message.role)}: ${messageText(message)}` : "";
}

/** The text of a message, one a model answered too, and after it the calls of tools it makes, as JSON. */
export function messageText({ content, tool_calls: calls }: Readonly<Record<string, unknown>>): string {
  const called = Array.isArray(calls) && calls.length > 0 ? JSON.stringify(calls) : "";
  return [textOfContent(content), called].filter(Boolean).join("\n");
}

function textOfContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (isRecord(part) && typeof part.text === "string" ? part.text : "")).join("");
}
