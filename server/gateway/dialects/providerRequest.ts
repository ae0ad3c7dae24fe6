import { isRecord } from "@/solver/collections/isRecord";
import type { Json } from "../http/endpoint";
import { asksFor, given, listOf, NotCarried, objectOf, requiredText } from "./bodyFields";

/** A message whose blocks are JSON text: arguments of tools are the model's own text, and parsing would round their large numbers. */
interface WrittenMessage {
  readonly role: "user" | "assistant";
  readonly blocks: string[];
}

/** Anthropic's temperatures end at 1, OpenAI's at 2. */
const mostTemperature = 1;

/**
 * A body of chat completions as the JSON text of one of Anthropic's Messages API. Fields that this API does not have, such as `seed`, are left
 * out.
 * @param chat with `max_completion_tokens` or `max_tokens`, which the Messages API requires.
 * @throws NotCarried
 */
export function providerRequest(chat: Json): string {
  const { model, messages, stop, temperature, top_p, stream, tools, user, n, reasoning_effort: effort, response_format: format } = chat;
  if (typeof n === "number" && n > 1) throw new NotCarried("n", "`n` is more than 1, and the provider gives one answer.");
  const { system, written } = writtenMessages(listOf(messages, "messages"));
  const output = given({ effort, format: outputFormat(format) });
  const body = given({
    model,
    max_tokens: chat.max_completion_tokens ?? chat.max_tokens,
    system: system === "" ? undefined : system,
    stop_sequences: typeof stop === "string" ? [stop] : stop,
    temperature: typeof temperature === "number" ? Math.min(mostTemperature, temperature) : undefined,
    top_p,
    tools: messagesTools(tools),
    tool_choice: messagesToolChoice(chat),
    metadata: typeof user === "string" ? { user_id: user } : undefined,
    output_config: Object.keys(output).length === 0 ? undefined : output,
    stream: stream === true ? true : undefined,
    messages: [],
  });
  const texts = written.map(({ role, blocks }) => `{"role":"${role}","content":[${blocks.join(",")}]}`);
  return JSON.stringify(body).replace(/"messages":\[\]\}$/, () => `"messages":[${texts.join(",")}]}`);
}

function writtenMessages(messages: readonly unknown[]): { readonly system: string; readonly written: readonly WrittenMessage[] } {
  const system: string[] = [];
  const written: WrittenMessage[] = [];
  const add = (role: WrittenMessage["role"], blocks: readonly string[]): void => {
    if (blocks.length === 0) return;
    const last = written.at(-1);
    // Turns alternate, and results of tools that are called at once belong into one turn.
    if (last?.role === role) last.blocks.push(...blocks);
    else written.push({ role, blocks: [...blocks] });
  };
  for (const [index, entry] of messages.entries()) {
    const at = `messages.${index}`;
    const message = objectOf(entry, at);
    const { role, content } = message;
    if (role === "system" || role === "developer") system.push(plainText(content, at));
    else if (role === "user") add("user", partsOf(content, at));
    else if (role === "assistant") add("assistant", [...partsOf(content, at), ...toolUses(message, at)]);
    else if (role === "tool") add("user", [toolResult(message, at)]);
    else throw new NotCarried(`${at}.role`, `\`${at}.role\` must be system, developer, user, assistant or tool.`);
  }
  return { system: system.filter((text) => text !== "").join("\n\n"), written };
}

/** The blocks of a message's content; empty texts are refused there, and are left out. */
function partsOf(content: unknown, at: string): readonly string[] {
  if (typeof content === "string") return content === "" ? [] : [JSON.stringify({ type: "text", text: content })];
  return listOf(content, `${at}.content`).flatMap((entry, index) => {
    const here = `${at}.content.${index}`;
    const part = objectOf(entry, here);
    if (part.type === "text") return part.text === "" ? [] : [JSON.stringify({ type: "text", text: requiredText(part, "text", here) })];
    if (part.type === "image_url") return [JSON.stringify({ type: "image", source: imageSource(part, here) })];
    throw new NotCarried(here, `\`${here}\` is a part of the type ${JSON.stringify(part.type)}, which the provider cannot read.`);
  });
}

function imageSource({ image_url: image }: Json, at: string): Json {
  const url = requiredText(objectOf(image, `${at}.image_url`), "url", `${at}.image_url`);
  const [, media, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return data === undefined ? { type: "url", url } : { type: "base64", media_type: media, data };
}

function plainText(content: unknown, at: string): string {
  if (typeof content === "string") return content;
  return listOf(content, `${at}.content`)
    .map((part, index) => requiredText(objectOf(part, `${at}.content.${index}`), "text", `${at}.content.${index}`))
    .join("\n\n");
}

function toolUses({ tool_calls: calls }: Json, at: string): readonly string[] {
  return listOf(calls, `${at}.tool_calls`).map((entry, index) => {
    const here = `${at}.tool_calls.${index}`;
    const call = objectOf(entry, here);
    const called = objectOf(call.function, `${here}.function`);
    const text = requiredText(called, "arguments", `${here}.function`);
    if (text.trim() !== "" && !isObjectText(text))
      throw new NotCarried(`${here}.function.arguments`, `\`${here}.function.arguments\` must be a JSON object.`);
    const head = JSON.stringify({
      type: "tool_use",
      id: requiredText(call, "id", here),
      name: requiredText(called, "name", `${here}.function`),
    });
    return `${head.slice(0, -1)},"input":${text.trim() === "" ? "{}" : text}}`;
  });
}

function toolResult(message: Json, at: string): string {
  const { content } = message;
  return JSON.stringify({ type: "tool_result", tool_use_id: requiredText(message, "tool_call_id", at), content: plainText(content, at) });
}

function isObjectText(text: string): boolean {
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}

function messagesTools(tools: unknown): readonly Json[] | undefined {
  const list = listOf(tools, "tools");
  if (list.length === 0) return undefined;
  return list.map((entry, index) => {
    const at = `tools.${index}.function`;
    const { name, description, parameters, strict } = objectOf(objectOf(entry, `tools.${index}`).function, at);
    return given({ name, description, input_schema: parameters ?? { type: "object", properties: {} }, strict });
  });
}

function messagesToolChoice({ tool_choice: choice, parallel_tool_calls: parallel, tools }: Json): Json | undefined {
  if (!asksFor(tools)) return undefined;
  const single = parallel === false ? { disable_parallel_tool_use: true } : {};
  if (choice === undefined || choice === null) return parallel === false ? { type: "auto", ...single } : undefined;
  if (choice === "none") return { type: "none" };
  if (choice === "auto") return { type: "auto", ...single };
  if (choice === "required") return { type: "any", ...single };
  const called = objectOf(objectOf(choice, "tool_choice").function, "tool_choice.function");
  return { type: "tool", name: requiredText(called, "name", "tool_choice.function"), ...single };
}

function outputFormat(format: unknown): Json | undefined {
  if (!isRecord(format) || format.type === "text") return undefined;
  if (format.type !== "json_schema")
    throw new NotCarried("response_format", "`response_format` is no JSON schema, and the provider promises JSON of a schema only.");
  return { type: "json_schema", schema: objectOf(format.json_schema, "response_format.json_schema").schema };
}
