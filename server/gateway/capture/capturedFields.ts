import { isRecord } from "@/solver/collections/isRecord";

/** Members of a chat request that affect the answer. Others, such as the user's id, are not kept. */
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

/** Members of a message, and of a part of one. Others are removed: they may hold audio and images, in which no rule finds anything. */
const messageMembers: ReadonlySet<string> = new Set([
  "role",
  "content",
  "name",
  "refusal",
  "reasoning",
  "reasoning_content",
  "tool_calls",
  "tool_call_id",
  "function_call",
]);
const partMembers: ReadonlySet<string> = new Set(["type", "text", "refusal"]);

const textParts: ReadonlySet<unknown> = new Set(["text", "refusal"]);

/** What is kept of a chat request's body; null if the content of a message is not only text. */
export function capturedFields(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | null {
  const { messages } = body;
  if (!Array.isArray(messages) || !messages.every(isText)) return null;
  const members = kept.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]]));
  return { ...Object.fromEntries(members), messages: messages.map(textOf) };
}

function isText(message: unknown): message is Readonly<Record<string, unknown>> {
  if (!isRecord(message)) return false;
  const { content } = message;
  if (Array.isArray(content)) return content.every((part) => isRecord(part) && textParts.has(part.type));
  return content === undefined || content === null || typeof content === "string";
}

function textOf(message: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { content } = message;
  const parts = Array.isArray(content) ? { content: content.map((part) => only(part, partMembers)) } : {};
  return { ...only(message, messageMembers), ...parts };
}

const only = (record: Readonly<Record<string, unknown>>, names: ReadonlySet<string>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(record).filter(([name]) => names.has(name)));
