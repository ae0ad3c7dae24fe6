import { isRecord } from "@/solver/collections/isRecord";
import type { Json } from "../http/endpoint";
import { asksFor, given, listOf, NotCarried, objectOf, requiredText } from "./bodyFields";
import type { ChatBody } from "./dialect";
import { ExactInputs } from "./exactInputs";
import { chatMessages, systemText } from "./messagesContent";

/** Fields that only Anthropic's own service has a meaning for. Answers are the same without them. */
const withoutEffect = [
  "cache_control",
  "context_management",
  "diagnostics",
  "inference_geo",
  "service_tier",
  "speed",
  "user_profile_id",
  "workspace_id",
];
/** Fields that would change the answer, and that no engine has. */
const notCarried = ["container", "mcp_servers"];
const toolHints = ["allowed_callers", "cache_control", "defer_loading", "eager_input_streaming", "input_examples"];

/**
 * A body of Anthropic's Messages API as one of chat completions. Fields that neither API knows are passed on, as engines have fields of
 * their own.
 * @param raw the body's text.
 * @throws NotCarried
 */
export function messagesRequest(client: Json, raw: () => string): ChatBody {
  const { model, messages, system, max_tokens: most, stop_sequences: stop, metadata, thinking, tools, stream, ...more } = client;
  const { tool_choice: choice, output_config: output, chat_template_kwargs: template, ...others } = more;
  for (const name of notCarried)
    if (asksFor(others[name])) throw new NotCarried(name, `\`${name}\` is not supported: engines have nothing like it.`);
  if (typeof most !== "number") throw new NotCarried("max_tokens", "`max_tokens` must be the most tokens that the answer may have.");
  if (!Array.isArray(messages) || messages.length === 0)
    throw new NotCarried("messages", "`messages` must be a list with at least one message.");
  const ignored = new Set(withoutEffect.filter((name) => others[name] !== undefined));
  const chat = chatMessages(messages, { inputs: new ExactInputs(raw), ignored });
  const instructions = systemText(system, ignored);
  const reasoning = reasoningFields(thinking, ignored);
  const { effort, format } = isRecord(output) ? output : {};
  const userId = isRecord(metadata) ? metadata.user_id : undefined;
  const templateFields = { ...(isRecord(template) ? template : {}), ...reasoning };
  const body = given({
    ...Object.fromEntries(Object.entries(others).filter(([name]) => !withoutEffect.includes(name) && !notCarried.includes(name))),
    model,
    messages: instructions === null ? chat : [{ role: "system", content: instructions }, ...chat],
    max_tokens: most,
    stop,
    user: userId,
    tools: chatTools(tools, ignored),
    ...toolChoice(choice),
    reasoning_effort: effort,
    response_format: responseFormat(format),
    chat_template_kwargs: Object.keys(templateFields).length === 0 ? undefined : templateFields,
    ...continued(chat),
    stream,
    stream_options: stream === true ? { include_usage: true } : undefined,
  });
  return { body, ignored: [...ignored] };
}

/** Whether the client asks to see what the model thinks before it answers. */
export const wantsThinking = ({ thinking }: Json): boolean =>
  isRecord(thinking) && thinking.type !== "disabled" && thinking.display !== "omitted";

/** Chat templates of models that can think both ways read this switch; others ignore it. No engine keeps to a budget by itself. */
function reasoningFields(thinking: unknown, ignored: Set<string>): Json {
  if (thinking === undefined || thinking === null) return {};
  const { type, budget_tokens: budget } = objectOf(thinking, "thinking");
  if (budget !== undefined) ignored.add("thinking.budget_tokens");
  return { enable_thinking: type !== "disabled" };
}

function chatTools(tools: unknown, ignored: Set<string>): readonly Json[] | undefined {
  const list = listOf(tools, "tools");
  if (list.length === 0) return undefined;
  return list.map((entry, index) => {
    const at = `tools.${index}`;
    const tool = objectOf(entry, at);
    const { type, description, input_schema: parameters, strict } = tool;
    if (type !== undefined && type !== null && type !== "custom")
      throw new NotCarried(`${at}.type`, `\`${at}\` is a ${String(type)}, which only Anthropic runs: give tools with an \`input_schema\`.`);
    for (const hint of toolHints) if (tool[hint] !== undefined) ignored.add(`tools.${hint}`);
    return { type: "function", function: given({ name: requiredText(tool, "name", at), description, parameters, strict }) };
  });
}

function toolChoice(choice: unknown): Json {
  if (choice === undefined || choice === null) return {};
  const { type, name, disable_parallel_tool_use: single } = objectOf(choice, "tool_choice");
  const parallel = single === undefined ? {} : { parallel_tool_calls: single !== true };
  switch (type) {
    case "auto":
    case "none":
      return { tool_choice: type, ...parallel };
    case "any":
      return { tool_choice: "required", ...parallel };
    case "tool":
      return { tool_choice: { type: "function", function: { name } }, ...parallel };
    default:
      throw new NotCarried("tool_choice.type", "`tool_choice.type` must be auto, any, tool or none.");
  }
}

function responseFormat(format: unknown): Json | undefined {
  if (format === undefined || format === null) return undefined;
  const { type, schema } = objectOf(format, "output_config.format");
  if (type !== "json_schema") throw new NotCarried("output_config.format.type", "`output_config.format.type` must be json_schema.");
  return { type: "json_schema", json_schema: { name: "answer", schema, strict: true } };
}

/** A conversation that ends with the beginning of the answer is continued there. */
const continued = (chat: readonly Json[]): Json =>
  chat.at(-1)?.role === "assistant" ? { continue_final_message: true, add_generation_prompt: false } : {};
