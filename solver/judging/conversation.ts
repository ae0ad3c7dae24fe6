import { isRecord } from "../collections/isRecord";

/** A conversation in the form for a judge and a person: a line for each message, its role before its text and its calls. */
export const conversationText = (messages: readonly unknown[]): string => messages.map(messageLine).join("\n");

function messageLine(message: unknown): string {
  return isRecord(message) ? `${String(message.role)}: ${messageText(message)}` : "";
}

/** One message of a conversation that was read back from its text. */
export interface Turn {
  readonly role: string;
  readonly content: string;
}

const turn = /(?:^|\n)(system|developer|user|assistant|tool|function): /g;

/**
 * The messages of a `conversationText`. A line within a message that begins with a role reads as a message of its own: the text does not
 * tell them apart.
 *
 * @returns null where the text does not begin with a role.
 */
export function conversationTurns(text: string): readonly Turn[] | null {
  const turns = [...text.matchAll(turn)];
  if (turns[0]?.index !== 0) return null;
  return turns.map(({ 0: begun, 1: role = "", index }, at) => ({
    role,
    content: text.slice(index + begun.length, turns[at + 1]?.index),
  }));
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
