import { isRecord } from "@/solver/collections/isRecord";
import type { Json } from "../http/endpoint";
import { asksFor, given, listOf, NotCarried, objectOf, requiredText } from "./bodyFields";
import type { ExactInputs } from "./exactInputs";

interface Reading {
  readonly inputs: ExactInputs;
  /** Receives the fields that are accepted and change nothing. */
  readonly ignored: Set<string>;
}

/** What Claude Code writes before its instructions: a hash that differs in every request, so that no engine could reuse a prompt's cache. */
const billingHeader = /^x-anthropic-billing-header/;

/** The text of `system`, or of a message with that role; null if there is none. */
export function systemText(system: unknown, ignored: Set<string>, at = "system"): string | null {
  if (system === undefined || system === null || typeof system === "string") return system || null;
  const texts = listOf(system, at).map((block, index) => textOf(block, `${at}.${index}`, ignored));
  const own = texts.filter((text) => !billingHeader.test(text));
  if (own.length < texts.length) ignored.add("system: billing header");
  return own.join("\n\n") || null;
}

/** The messages of a conversation, one or several for each of the client's. @throws NotCarried */
export function chatMessages(messages: readonly unknown[], reading: Reading): readonly Json[] {
  return messages.flatMap((entry, index) => {
    const at = `messages.${index}`;
    const { role, content } = objectOf(entry, at);
    if (role === "system") return [{ role, content: systemText(content, reading.ignored, `${at}.content`) ?? "" }];
    if (role !== "user" && role !== "assistant") throw new NotCarried(`${at}.role`, `\`${at}.role\` must be user, assistant or system.`);
    if (typeof content === "string") return [{ role, content }];
    if (!Array.isArray(content)) throw new NotCarried(`${at}.content`, `\`${at}.content\` must be a text or a list of blocks.`);
    const blocks = content.map((block, position) => objectOf(block, `${at}.content.${position}`));
    for (const block of blocks) if (block.cache_control !== undefined) reading.ignored.add("cache_control");
    return role === "user" ? userMessages(blocks, at, reading) : [assistantMessage(blocks, index, reading)];
  });
}

/** Results of tools become messages of their own, before the rest of the message. */
function userMessages(blocks: readonly Json[], at: string, { ignored }: Reading): readonly Json[] {
  const results: Json[] = [];
  const parts: Json[] = [];
  for (const [position, block] of blocks.entries()) {
    const here = `${at}.content.${position}`;
    if (block.type !== "tool_result") parts.push(partOf(block, here, ignored));
    else if (blocks[position - 1] !== undefined && blocks[position - 1]?.type !== "tool_result")
      throw new NotCarried(here, `\`${here}\` is a tool_result after other blocks: results come first in a message.`);
    else {
      const { text, images } = resultOf(block, here, ignored);
      const id = requiredText(block, "tool_use_id", here);
      results.push({ role: "tool", tool_call_id: id, content: block.is_error === true ? `Error: ${text}` : text });
      // Messages of tools have text alone.
      parts.push(...images);
    }
  }
  return parts.length === 0 ? results : [...results, { role: "user", content: textOrParts(parts) }];
}

function resultOf({ content }: Json, at: string, ignored: Set<string>): { readonly text: string; readonly images: readonly Json[] } {
  if (typeof content === "string") return { text: content, images: [] };
  const parts = listOf(content, `${at}.content`).map((block, index) => {
    const here = `${at}.content.${index}`;
    return partOf(objectOf(block, here), here, ignored);
  });
  const texts = parts.flatMap(({ text }) => (typeof text === "string" ? [text] : []));
  return { text: texts.join("\n"), images: parts.filter(({ type }) => type !== "text") };
}

function assistantMessage(blocks: readonly Json[], message: number, { inputs, ignored }: Reading): Json {
  const texts: Json[] = [];
  const calls: Json[] = [];
  const thoughts: string[] = [];
  for (const [position, block] of blocks.entries()) {
    const at = `messages.${message}.content.${position}`;
    if (block.type === "thinking") thoughts.push(requiredText(block, "thinking", at));
    else if (block.type === "tool_use") {
      const input = inputs.textOf(block.input ?? {}, message, position);
      const called = { name: requiredText(block, "name", at), arguments: input };
      calls.push({ id: requiredText(block, "id", at), type: "function", function: called });
    } else if (block.type === "text") texts.push(partOf(block, at, ignored));
    else throw notCarried(block, at);
  }
  const reasoning = thoughts.join("\n") || undefined;
  return given({
    role: "assistant",
    content: texts.length === 0 ? undefined : textOrParts(texts),
    // vLLM reads the first, SGLang and llama.cpp the second.
    ...{ reasoning, reasoning_content: reasoning },
    tool_calls: calls.length === 0 ? undefined : calls,
    // Templates and engines want one of them.
    ...(texts.length === 0 && calls.length === 0 ? { content: "" } : {}),
  });
}

/** A text or an image as a part of a message. */
function partOf(block: Json, at: string, ignored: Set<string>): Json {
  if (block.type === "text") return { type: "text", text: textOf(block, at, ignored) };
  if (block.type !== "image") throw notCarried(block, at);
  if (asksFor(block.transformations)) ignored.add("transformations");
  const { type, media_type: media, data, url } = objectOf(block.source, `${at}.source`);
  if (type === "base64" && typeof media === "string" && typeof data === "string")
    return { type: "image_url", image_url: { url: `data:${media};base64,${data}` } };
  if (type === "url" && typeof url === "string") return { type: "image_url", image_url: { url } };
  throw new NotCarried(`${at}.source`, `\`${at}.source\` must be of the type base64 or url: this gateway keeps no files.`);
}

function textOf(block: unknown, at: string, ignored: Set<string>): string {
  if (!isRecord(block) || block.type !== "text" || typeof block.text !== "string")
    throw new NotCarried(at, `\`${at}\` must be a block of the type text.`);
  if (block.cache_control !== undefined) ignored.add("cache_control");
  if (asksFor(block.citations)) ignored.add("citations");
  return block.text;
}

/** One text as itself, which every chat template takes. */
const textOrParts = (parts: readonly Json[]): unknown => (parts.length === 1 && parts[0]?.type === "text" ? parts[0].text : parts);

function notCarried({ type }: Json, at: string): NotCarried {
  return new NotCarried(at, `\`${at}\` is a block of the type ${String(type)}, which engines cannot read.`);
}
