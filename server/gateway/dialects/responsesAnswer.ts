import type { Json } from "../http/endpoint";
import { given } from "./bodyFields";
import type { CallDelta, ChatDelta, ChatUsage } from "./chatDelta";
import type { AnswerContext } from "./dialect";

export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** What a response repeats of its request. */
export interface ResponseSetting {
  /** The client's body. */
  readonly client: Json;
  /** Whether the response is kept. */
  readonly isStored: boolean;
}

/** A response that has begun. */
export function responseHead({ answerId, nowSeconds }: AnswerContext, { client, isStored }: ResponseSetting, model: string): Json {
  const { instructions, metadata, parallel_tool_calls: parallel, previous_response_id: previous, reasoning, temperature, text } = client;
  return {
    id: `resp_${answerId}`,
    object: "response",
    created_at: nowSeconds,
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: instructions ?? null,
    max_output_tokens: client.max_output_tokens ?? null,
    metadata: metadata ?? {},
    model,
    output: [],
    parallel_tool_calls: parallel ?? true,
    previous_response_id: previous ?? null,
    reasoning: reasoning ?? { effort: null, summary: null },
    store: isStored,
    temperature: temperature ?? null,
    text: text ?? { format: { type: "text" } },
    tool_choice: client.tool_choice ?? "auto",
    tools: client.tools ?? [],
    top_p: client.top_p ?? null,
    truncation: "disabled",
    usage: null,
    user: client.user ?? null,
  };
}

/** How a response ends. */
export function responseEnd(finish: string | null, usage: ChatUsage | null): Json {
  const reason = finish === "length" ? "max_output_tokens" : finish === "content_filter" ? "content_filter" : null;
  return {
    status: reason === null ? "completed" : "incomplete",
    incomplete_details: reason === null ? null : { reason },
    usage: usage === null ? null : responseUsage(usage),
  };
}

const responseUsage = ({ input, cached, output, reasoning }: ChatUsage): Json => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});

/** An item of the output while it is written. */
export type OutputItem =
  | { readonly kind: "reasoning" | "text"; readonly id: string; text: string }
  | { readonly kind: "call"; readonly id: string; readonly call: Pick<CallDelta, "index" | "id" | "name">; text: string };

const prefixes = { reasoning: "rs", text: "msg", call: "fc" } as const;

/** The id of the output's item at a position. */
export const itemId = (kind: OutputItem["kind"], { answerId }: Pick<AnswerContext, "answerId">, position: number): string =>
  `${prefixes[kind]}_${answerId}_${position}`;

/** An item as a response lists it. */
export function itemJson(item: OutputItem, status: ItemStatus): Json {
  const { id, text } = item;
  if (item.kind === "call")
    return { id, type: "function_call", call_id: item.call.id ?? "", name: item.call.name ?? "", arguments: text, status };
  const content = isEmpty(item, status) ? [] : [partJson(item)];
  return item.kind === "reasoning"
    ? { id, type: "reasoning", summary: [], content, status }
    : { id, type: "message", role: "assistant", status, content };
}

const isEmpty = ({ text }: OutputItem, status: ItemStatus): boolean => status === "in_progress" && text === "";

/** The content of an item of text. */
export const partJson = ({ kind, text }: Pick<OutputItem, "kind" | "text">): Json =>
  kind === "reasoning" ? { type: "reasoning_text", text } : { type: "output_text", text, annotations: [], logprobs: [] };

/** The items of a whole answer. */
export function outputItems({ reasoning, text, calls }: ChatDelta, context: AnswerContext): readonly OutputItem[] {
  const items: OutputItem[] = [];
  const add = (kind: "reasoning" | "text", said: string): void => {
    if (said !== "") items.push({ kind, id: itemId(kind, context, items.length), text: said });
  };
  add("reasoning", reasoning);
  add("text", text);
  for (const call of calls) items.push({ kind: "call", id: itemId("call", context, items.length), call, text: call.arguments });
  return items;
}

/** The items as the message that a later conversation has of them; null if they say nothing. */
export function itemsMessage(items: readonly OutputItem[]): Json | null {
  const texts = (kind: OutputItem["kind"]): string | undefined =>
    items.flatMap((item) => (item.kind === kind ? [item.text] : [])).join("") || undefined;
  const calls = items.flatMap((item) =>
    item.kind === "call" ? [{ id: item.call.id, type: "function", function: { name: item.call.name, arguments: item.text } }] : [],
  );
  const reasoning = texts("reasoning");
  const content = texts("text");
  if (content === undefined && calls.length === 0) return null;
  return given({ role: "assistant", content, reasoning, reasoning_content: reasoning, tool_calls: calls.length === 0 ? undefined : calls });
}
