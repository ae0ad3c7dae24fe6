import { isRecord } from "./isRecord";

/** Members of a chat request that decide over the answer. Others, as who the user is, are not kept. */
const kept = [
  "messages",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "functions",
  "function_call",
  "response_format",
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "max_tokens",
  "max_completion_tokens",
  "min_tokens",
  "stop",
  "seed",
  "presence_penalty",
  "frequency_penalty",
  "repetition_penalty",
  "logit_bias",
  "reasoning_effort",
  "verbosity",
  "chat_template_kwargs",
  "structured_outputs",
  "guided_json",
  "guided_regex",
  "guided_choice",
  "guided_grammar",
] as const;

const textParts: ReadonlySet<unknown> = new Set(["text", "refusal"]);

/** What is kept of a chat request's body; null where a message holds more than text, in which no rule finds anything. */
export function capturedFields(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | null {
  const { messages } = body;
  if (!Array.isArray(messages) || !messages.every(isText)) return null;
  return Object.fromEntries(kept.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])));
}

function isText(message: unknown): boolean {
  if (!isRecord(message)) return false;
  const { content } = message;
  return !Array.isArray(content) || content.every((part) => isRecord(part) && textParts.has(part.type));
}
