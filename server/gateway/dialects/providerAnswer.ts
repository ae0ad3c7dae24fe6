import { rawElements, rawMembers } from "@/server/lib/rawJson";
import { isRecord } from "@/solver/collections/isRecord";
import type { Json } from "../http/endpoint";

/** Why an answer of the Messages API ended, in the words of chat completions. */
const finishReasons: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

export const finishOf = (stopReason: unknown): string | null =>
  typeof stopReason === "string" ? (finishReasons[stopReason] ?? "stop") : null;

const count = (value: unknown): number => (typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0);

/** Tokens as chat completions count them: those of a cache are a part of the prompt. Null if there are none. */
export function chatUsage(usage: unknown): Json | null {
  if (!isRecord(usage)) return null;
  const cached = count(usage.cache_read_input_tokens);
  const prompt = count(usage.input_tokens) + count(usage.cache_creation_input_tokens) + cached;
  const completion = count(usage.output_tokens);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

/**
 * A message of Anthropic's Messages API as a completion.
 * @param text the message as JSON text: the inputs of tools are kept as they are written there.
 * @returns null if it is no message.
 */
export function providerCompletion(text: string, nowSeconds: number): Json | null {
  const message = parsed(text);
  if (!isRecord(message) || !Array.isArray(message.content)) return null;
  const blocks = message.content.map((block) => (isRecord(block) ? block : {}));
  const raw = blocks.some(({ type }) => type === "tool_use") ? rawElements(rawMembers(text).get("content") ?? "") : [];
  const textOf = (type: string, member: string): string =>
    blocks.map((block) => (block.type === type && typeof block[member] === "string" ? block[member] : "")).join("");
  const calls = blocks.flatMap(({ type, id, name }, index) => {
    if (type !== "tool_use") return [];
    return [{ id, type: "function", function: { name, arguments: rawMembers(raw[index] ?? "").get("input") ?? "{}" } }];
  });
  const reasoning = textOf("thinking", "thinking");
  const content = textOf("text", "text");
  const answer = {
    role: "assistant",
    content: content === "" && calls.length > 0 ? null : content,
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    id: message.id,
    object: "chat.completion",
    created: nowSeconds,
    model: message.model,
    choices: [{ index: 0, message: answer, finish_reason: finishOf(message.stop_reason) ?? "stop", logprobs: null }],
    usage: chatUsage(message.usage),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
