import { parsedOr } from "@/server/lib/parsedOr";
import { isRecord } from "@/solver/collections/isRecord";
import type { Json } from "../http/endpoint";
import { type CallDelta, type ChatDelta, type ChatUsage, chatDelta } from "./chatDelta";
import { type ChatError, unreadable } from "./chatError";
import type { AnswerContext } from "./dialect";

interface MessageOptions {
  readonly showsThinking: boolean;
}

/**
 * A whole completion as a message in JSON; an error if a tool's arguments are no JSON object. Calls whose arguments `max_tokens` cut are left
 * out.
 */
export function messageJson(
  completion: Json,
  { answerId }: Pick<AnswerContext, "answerId">,
  { showsThinking }: MessageOptions,
): { readonly json: string } | ChatError {
  const delta = chatDelta(completion);
  const isCut = delta.finish === "length";
  // An engine that completes a cut call writes no members, or half a text: only members show that the call may be whole.
  const calls = isCut ? delta.calls.filter(({ arguments: text }) => Object.keys(objectOf(text) ?? {}).length > 0) : delta.calls;
  const broken = calls.find(({ arguments: text }) => objectOf(text) === null);
  if (broken !== undefined)
    return unreadable(`The model's arguments for the tool ${broken.name ?? ""} are not a JSON object, so they cannot be its \`input\`.`);
  const blocks = [
    ...(showsThinking && delta.reasoning !== "" ? [JSON.stringify({ type: "thinking", thinking: delta.reasoning, signature: "" })] : []),
    ...(delta.text === "" ? [] : [JSON.stringify({ type: "text", text: delta.text, citations: null })]),
    ...calls.map(toolUseJson),
  ];
  const head = messageHead({ id: answerId, model: delta.model ?? "" });
  const end = { ...messageEnd(delta, calls.length > 0), usage: delta.usage === null ? emptyUsage : messageUsage(delta.usage) };
  // The arguments are the model's own text: parsed and written again, their large numbers would be others.
  const json = JSON.stringify({ ...head, content: [], ...end }).replace('"content":[]', () => `"content":[${blocks.join(",")}]`);
  return { json };
}

function toolUseJson({ id, name, arguments: text }: CallDelta): string {
  const start = JSON.stringify({ type: "tool_use", id: id ?? "", name: name ?? "" });
  return `${start.slice(0, -1)},"input":${text.trim() === "" ? "{}" : text}}`;
}

/** The members of a message that are known when it begins. */
export const messageHead = ({ id, model }: { readonly id: string; readonly model: string }): Json => ({
  id: `msg_${id}`,
  type: "message",
  role: "assistant",
  model,
});

/** Why a message ended. `stop_sequence` only where the engine says which one it met. */
export function messageEnd({ finish, stopSequence }: Pick<ChatDelta, "finish" | "stopSequence">, callsTools: boolean): Json {
  const isSequence = finish === "stop" && stopSequence !== null;
  // An engine that is made to call a tool may say `stop`.
  const reason = isSequence ? "stop_sequence" : callsTools && finish === "stop" ? "tool_use" : (stopReasons[finish ?? ""] ?? "end_turn");
  return { stop_reason: reason, stop_sequence: isSequence ? stopSequence : null };
}

const stopReasons: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  function_call: "tool_use",
  content_filter: "refusal",
};

/** Tokens as Anthropic counts them: those read from a cache apart from the rest of the prompt. */
export const messageUsage = ({ input, cached, output }: ChatUsage): Json => ({
  input_tokens: Math.max(0, input - cached),
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cached,
  output_tokens: output,
});

/** The clients need numbers where an engine has counted nothing, or not yet. */
export const emptyUsage = messageUsage({ input: 0, cached: 0, output: 0, reasoning: 0 });

/** The arguments as an object, without any if the model wrote nothing; null if they are none. */
function objectOf(text: string): Json | null {
  const value = text.trim() === "" ? {} : parsedOr(text, null);
  return isRecord(value) ? value : null;
}
