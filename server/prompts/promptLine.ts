import type { Prompt, PromptForm, PromptOwner } from "@/server/contracts/studio";
import { isRecord } from "@/solver/collections/isRecord";
import { conversationTurns, messageText, type Turn } from "@/solver/judging/conversation";
import { type Json, promptOf } from "./promptOf";

/**
 * The conversation of a prompt in a decision record, which is text only. Text without a role at its beginning is a prompt of the
 * completions endpoint.
 *
 * @returns messages, or in a few words why they cannot be sent again.
 */
function recordedMessages(prompt: string): readonly Turn[] | string {
  const messages = conversationTurns(prompt);
  if (messages === null) return [{ role: "user", content: prompt }];
  const hasTools = messages.some(({ role }) => role === "tool" || role === "function");
  return hasTools ? "its conversation has messages of tools, which records keep as text only" : messages;
}

/** Reported for records that end before their prompt does, and counted. */
export const CUT_PROMPT = "its prompt was kept only in part, as far as the record says";

type LineForm = Exclude<PromptForm, "csv">;

/** Set by the sender, or about delivery: none of them affects the answer. */
const dropped = new Set(
  ["model", "stream", "stream_options", "n", "user", "metadata"].concat("store", "service_tier", "safety_identifier", "prompt_cache_key"),
);

/** Request fields next to `messages` in a chat line. Other fields belong to the file, and an engine may refuse them. */
const passed = new Set(
  ["tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "response_format", "structured_outputs"].concat(
    ["temperature", "top_p", "top_k", "min_p", "seed", "stop", "stop_token_ids", "max_tokens", "max_completion_tokens", "min_tokens"],
    ["presence_penalty", "frequency_penalty", "repetition_penalty", "logit_bias", "reasoning_effort", "chat_template_kwargs"],
    ["guided_json", "guided_regex", "guided_choice", "guided_grammar", "modalities"],
  ),
);

/** The form of a line of JSON; null: none that is known. */
export function formOfLine(value: unknown): LineForm | null {
  if (!isRecord(value)) return null;
  if (isRecord(value.body)) return "batch";
  if (value.messages !== undefined) return "chat";
  return typeof value.finishedAtMs === "number" ? "record" : typeof value.prompt === "string" ? "chat" : null;
}

/** The prompt of a line of JSON of that form, or its problem. */
export function promptOfLine(value: unknown, form: LineForm, line: number): Prompt | string {
  if (!isRecord(value)) return "it is no JSON object";
  if (formOfLine(value) !== form) return `it is of another form than the lines before: ${shapes[form]}`;
  return readers[form](value, line);
}

const shapes: Readonly<Record<LineForm, string>> = {
  batch: "it needs a `body`",
  chat: "it needs `messages`",
  record: "it needs `finishedAtMs`",
};

const readers: Readonly<Record<LineForm, (value: Json, line: number) => Prompt | string>> = {
  batch(value, line) {
    const body = isRecord(value.body) ? value.body : {};
    if (typeof value.url === "string" && !value.url.endsWith("/chat/completions"))
      return "it asks for something else than a chat completion";
    const settings = fieldsOf(body, (field) => field !== "messages" && !dropped.has(field));
    return promptOf({ line, id: value.custom_id ?? value.id, messages: body.messages, settings, ...besides(value) });
  },
  chat(value, line) {
    const all: unknown = value.messages ?? [{ role: "user", content: value.prompt }];
    const settings = fieldsOf(value, (field) => passed.has(field));
    const about = { ...besides(value), ...ownedBy(value.metadata) };
    const id = value.id ?? value.custom_id;
    const last: unknown = Array.isArray(all) ? all.at(-1) : undefined;
    if (!Array.isArray(all) || !isRecord(last) || last.role !== "assistant")
      return promptOf({ line, id, messages: all, settings, ...about });
    // The answer at the end is what a model is to find, as in OpenAI's form for fine-tuning.
    return promptOf({ line, id, messages: all.slice(0, -1), settings, ...about, reference: about.reference ?? messageText(last) });
  },
  record(value, line) {
    if (typeof value.prompt !== "string") return "its prompt was not kept";
    // Records of older gateways do not say how long the prompt was.
    if (value.promptCharacters !== value.prompt.length) return CUT_PROMPT;
    const messages = recordedMessages(value.prompt);
    if (typeof messages === "string") return messages;
    const { id, objective, key, finishedAtMs } = value;
    const about = { category: objective ?? key, at: finishedAtMs, settings: {}, reference: null, test: null, ...ownedBy(value) };
    return promptOf({ line, id, messages, ...about });
  },
};

/** Most lines have none, and a million lines are read one by one. */
function fieldsOf(value: Json, isWanted: (field: string) => boolean): Json {
  const fields: Record<string, unknown> = {};
  for (const field of Object.keys(value)) if (isWanted(field)) fields[field] = value[field];
  return fields;
}

/** Of a line that was taken from a gateway, which has the cluster's id: whose prompt it is. */
function ownedBy(value: unknown): { readonly owner?: PromptOwner } {
  if (!isRecord(value) || typeof value.clusterId !== "string") return {};
  const { clusterId, key, user } = value;
  return { owner: { clusterId, key: typeof key === "string" ? key : null, user: typeof user === "string" ? user : null } };
}

const besides = (value: Json) => ({
  category: value.category,
  at: value.atMs ?? value.timestamp ?? value.created_at ?? value.created,
  reference: value.reference ?? value.ideal ?? value.answer,
  test: value.test,
});
