import { isRecord } from "@/solver/collections/isRecord";
import type { Json } from "../http/endpoint";
import { asksFor, given, listOf, NotCarried, objectOf, requiredText } from "./bodyFields";
import type { ChatBody } from "./dialect";
import { inputMessages, withInstructions } from "./responsesItems";

/** Fields that only OpenAI's own service has a meaning for. Answers are the same without them. */
const withoutEffect = [
  "context_management",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "safety_identifier",
  "service_tier",
  "truncation",
];
/** Fields that would change the answer, and that no engine has. */
const notCarried = ["background", "conversation", "moderation", "prompt"];
/** Members of `reasoning` that are named where they are ignored: ignored fields go into a header, which takes no text of a client's. */
const reasoningHints = ["summary", "generate_summary"];
/** Reasoning is sent as text, which needs no key of OpenAI's to be sent back. */
const encryptedReasoning = "reasoning.encrypted_content";

export interface ResponsesBody extends ChatBody {
  /** The conversation without the instructions, which hold for one answer. */
  readonly conversation: readonly Json[];
}

/**
 * A body of OpenAI's Responses API as one of chat completions. Fields that neither API knows are passed on, as engines have fields of their
 * own.
 * @param before the conversation that the input continues.
 * @throws NotCarried
 */
export function responsesRequest(client: Json, before: readonly Json[]): ResponsesBody {
  const { model, input, instructions, max_output_tokens: most, metadata, tools, tool_choice: choice, text, reasoning, ...more } = client;
  const { include, stream, stream_options: streamOptions, store, previous_response_id: previous, top_logprobs: top, ...others } = more;
  for (const name of notCarried)
    if (asksFor(others[name])) throw new NotCarried(name, `\`${name}\` is not supported: give the whole input, and wait for the answer.`);
  if (asksFor(top) && top !== 0)
    throw new NotCarried("top_logprobs", "`top_logprobs` is not supported: ask /v1/chat/completions for `logprobs`.");
  const ignored = new Set(withoutEffect.filter((name) => asksFor(others[name]) && others[name] !== "disabled"));
  for (const name of listOf(include, "include")) {
    if (name !== encryptedReasoning)
      throw new NotCarried("include", `\`include\` names ${String(name)}, which this gateway does not have.`);
    ignored.add(`include: ${encryptedReasoning}`);
  }
  if (asksFor(streamOptions)) ignored.add("stream_options");
  if (instructions !== undefined && instructions !== null && typeof instructions !== "string")
    throw new NotCarried("instructions", "`instructions` must be a text.");
  const own = inputMessages(input, ignored);
  if (own.length === 0) throw new NotCarried("input", "`input` must be a text, or a list with at least one item.");
  const conversation = [...before, ...own];
  const { format, verbosity } = isRecord(text) ? text : {};
  if (asksFor(verbosity)) ignored.add("text.verbosity");
  const { effort, ...ofReasoning } = isRecord(reasoning) ? reasoning : {};
  for (const [name, value] of Object.entries(ofReasoning))
    if (asksFor(value)) ignored.add(reasoningHints.includes(name) ? `reasoning.${name}` : "reasoning");
  const body = given({
    ...Object.fromEntries(Object.entries(others).filter(([name]) => !withoutEffect.includes(name) && !notCarried.includes(name))),
    model,
    messages: withInstructions(conversation, instructions ?? ""),
    max_tokens: most,
    tools: chatTools(tools),
    tool_choice: toolChoice(choice),
    response_format: responseFormat(format),
    reasoning_effort: effort,
    stream,
    stream_options: stream === true ? { include_usage: true } : undefined,
  });
  return { body, ignored: [...ignored], conversation };
}

function chatTools(tools: unknown): readonly Json[] | undefined {
  const list = listOf(tools, "tools");
  if (list.length === 0) return undefined;
  return list.map((entry, index) => {
    const at = `tools.${index}`;
    const { type, ...tool } = objectOf(entry, at);
    if (type !== "function")
      throw new NotCarried(
        `${at}.type`,
        `\`${at}\` is of the type ${String(type)}, which only OpenAI runs: give tools of the type function.`,
      );
    const { description, parameters, strict } = tool;
    return { type, function: given({ name: requiredText(tool, "name", at), description, parameters, strict }) };
  });
}

function toolChoice(choice: unknown): unknown {
  if (choice === undefined || choice === null || typeof choice === "string") return choice;
  const { type, name } = objectOf(choice, "tool_choice");
  if (type === "function") return { type, function: { name } };
  throw new NotCarried("tool_choice", `\`tool_choice\` is of the type ${String(type)}; it must be none, auto, required or a function.`);
}

function responseFormat(format: unknown): Json | undefined {
  if (format === undefined || format === null) return undefined;
  const { type, name, schema, strict, description } = objectOf(format, "text.format");
  if (type === "text") return undefined;
  if (type === "json_object") return { type };
  if (type === "json_schema") return { type, json_schema: given({ name, schema, strict, description }) };
  throw new NotCarried("text.format.type", "`text.format.type` must be text, json_object or json_schema.");
}
