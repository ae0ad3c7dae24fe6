import type { Redactor } from "./redactor";

/** Fields of a chat request's body. */
interface ChatFields {
  readonly messages: readonly unknown[];
  readonly [name: string]: unknown;
}

const callIdNames: ReadonlySet<string> = new Set(["id", "tool_call_id"]);

/**
 * A chat request's fields without the rules' matches in any of their texts. Ids of tool calls are replaced, so that a rule cannot make
 * two of them equal and a client cannot hide text in them; the assignment of answers to calls stays.
 */
export function redactPrompt({ messages, ...rest }: ChatFields, redactor: Redactor): Readonly<Record<string, unknown>> {
  const ids = new Map<string, string>();
  const named = messages.map((message) => withNewIds(message, ids));
  return Object.fromEntries(Object.entries({ messages: named, ...rest }).map(([name, value]) => [name, redactor.value(value)]));
}

function withNewIds(message: unknown, ids: Map<string, string>): unknown {
  if (typeof message !== "object" || message === null) return message;
  const renamed = Object.entries(message).map(([name, value]): [string, unknown] => {
    if (callIdNames.has(name) && typeof value === "string") return [name, newId(value, ids)];
    if (name === "tool_calls" && Array.isArray(value)) return [name, value.map((call) => withNewIds(call, ids))];
    return [name, value];
  });
  return Object.fromEntries(renamed);
}

function newId(id: string, ids: Map<string, string>): string {
  const known = ids.get(id) ?? `call_${ids.size + 1}`;
  ids.set(id, known);
  return known;
}
