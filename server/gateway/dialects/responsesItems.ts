import type { Json } from "../http/endpoint";
import { asksFor, given, listOf, NotCarried, objectOf, requiredText } from "./bodyFields";

/** The messages that `input` holds. @throws NotCarried */
export function inputMessages(input: unknown, ignored: Set<string>): readonly Json[] {
  if (typeof input === "string") return [{ role: "user", content: input }];
  const conversation = new Conversation(ignored);
  for (const [index, item] of listOf(input, "input").entries()) conversation.add(objectOf(item, `input.${index}`), `input.${index}`);
  return conversation.end();
}

/** The instructions before the conversation, in one message with those that it begins with: many templates take only one. */
export function withInstructions(conversation: readonly Json[], instructions: string): readonly Json[] {
  const first = conversation.findIndex(({ role }) => role !== "system");
  const leading = first < 0 ? conversation.length : first;
  const texts = [instructions, ...conversation.slice(0, leading).map(({ content }) => systemContent(content))].filter(
    (text) => text !== "",
  );
  const rest = conversation.slice(leading);
  return texts.length === 0 ? rest : [{ role: "system", content: texts.join("\n\n") }, ...rest];
}

function systemContent(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content, "input")
    .map((part) => String(objectOf(part, "input").text ?? ""))
    .join("\n");
}

/** A message of the assistant: several items make one. */
interface AssistantTurn {
  reasoning: string | undefined;
  content: unknown;
  readonly calls: Json[];
}

/** Makes messages of items, in their order. */
class Conversation {
  readonly #messages: Json[] = [];
  readonly #ignored: Set<string>;
  #turn: AssistantTurn | null = null;
  /** Images that functions returned: nothing may come between a call and its results. */
  #images: Json[] = [];

  constructor(ignored: Set<string>) {
    this.#ignored = ignored;
  }

  add(item: Json, at: string): void {
    const { type = "message" } = item;
    if (type === "message") this.#message(item, at);
    else if (type === "reasoning") this.#reasoning(item, at);
    else if (type === "function_call") this.#call(item, at);
    else if (type === "function_call_output") this.#output(item, at);
    else throw new NotCarried(`${at}.type`, `\`${at}\` is of the type ${String(type)}, which engines cannot read.`);
  }

  end(): readonly Json[] {
    this.#finishTurn();
    this.#finishResults();
    return this.#messages;
  }

  #message({ role, content }: Json, at: string): void {
    this.#finishResults();
    const said = contentOf(content, `${at}.content`, this.#ignored);
    if (role === "assistant") {
      this.#next().content = said;
      return;
    }
    if (role !== "user" && role !== "system" && role !== "developer")
      throw new NotCarried(`${at}.role`, `\`${at}.role\` must be user, assistant, system or developer.`);
    this.#finishTurn();
    // The templates of open models know no developer.
    this.#messages.push({ role: role === "developer" ? "system" : role, content: said });
  }

  #reasoning(item: Json, at: string): void {
    const text = reasoningText(item, at);
    if (text === "") return;
    this.#finishResults();
    this.#next().reasoning = text;
  }

  #call(item: Json, at: string): void {
    this.#finishResults();
    const called = { name: requiredText(item, "name", at), arguments: requiredText(item, "arguments", at) };
    this.#turn ??= { reasoning: undefined, content: undefined, calls: [] };
    this.#turn.calls.push({ id: requiredText(item, "call_id", at), type: "function", function: called });
  }

  #output(item: Json, at: string): void {
    this.#finishTurn();
    const { output } = item;
    const parts = typeof output === "string" ? [{ type: "text", text: output }] : partsOf(output, `${at}.output`, this.#ignored);
    const text = parts.flatMap((part) => (typeof part.text === "string" ? [part.text] : [])).join("\n");
    this.#messages.push({ role: "tool", tool_call_id: requiredText(item, "call_id", at), content: text });
    // Messages of tools have text alone.
    this.#images.push(...parts.filter(({ type }) => type !== "text"));
  }

  /** The assistant's turn for what comes before its answer, or is the answer: a new one if the open one has an answer. */
  #next(): AssistantTurn {
    if (this.#turn !== null && (this.#turn.content !== undefined || this.#turn.calls.length > 0)) this.#finishTurn();
    this.#turn ??= { reasoning: undefined, content: undefined, calls: [] };
    return this.#turn;
  }

  #finishTurn(): void {
    if (this.#turn !== null) this.#messages.push(assistantMessage(this.#turn));
    this.#turn = null;
  }

  #finishResults(): void {
    if (this.#images.length > 0) this.#messages.push({ role: "user", content: this.#images });
    this.#images = [];
  }
}

function assistantMessage({ reasoning, content, calls }: AssistantTurn): Json {
  return given({
    role: "assistant",
    content: content ?? (calls.length === 0 ? "" : undefined),
    // vLLM reads the first, SGLang and llama.cpp the second.
    ...{ reasoning, reasoning_content: reasoning },
    tool_calls: calls.length === 0 ? undefined : calls,
  });
}

/** The text of a message, or its parts. */
function contentOf(content: unknown, at: string, ignored: Set<string>): unknown {
  if (typeof content === "string") return content;
  const parts = partsOf(content, at, ignored);
  return parts.length === 1 && parts[0]?.type === "text" ? parts[0].text : parts;
}

const partsOf = (content: unknown, at: string, ignored: Set<string>): readonly Json[] =>
  listOf(content, at).map((entry, index) => partOf(objectOf(entry, `${at}.${index}`), `${at}.${index}`, ignored));

function partOf(part: Json, at: string, ignored: Set<string>): Json {
  const { type, image_url: url, detail } = part;
  if (asksFor(part.prompt_cache_breakpoint)) ignored.add("prompt_cache_breakpoint");
  if (asksFor(part.annotations)) ignored.add("annotations");
  if (type === "input_text" || type === "output_text") return { type: "text", text: requiredText(part, "text", at) };
  if (type === "refusal") return { type: "text", text: requiredText(part, "refusal", at) };
  if (type !== "input_image") throw new NotCarried(`${at}.type`, `\`${at}\` is of the type ${String(type)}, which engines cannot read.`);
  if (typeof url !== "string") throw new NotCarried(at, `\`${at}\` needs an \`image_url\`: this gateway keeps no files.`);
  return { type: "image_url", image_url: given({ url, detail }) };
}

function reasoningText({ content, encrypted_content: encrypted }: Json, at: string): string {
  const texts = listOf(content, `${at}.content`).map((part, index) => {
    const here = `${at}.content.${index}`;
    return requiredText(objectOf(part, here), "text", here);
  });
  if (texts.length === 0 && asksFor(encrypted))
    throw new NotCarried(at, `\`${at}\` is encrypted reasoning, which only its own service can read: leave it out.`);
  return texts.join("\n");
}
