import type { Json } from "../http/endpoint";
import { CallSequence } from "./callSequence";
import type { CallDelta, ChatDelta } from "./chatDelta";
import type { ChatError } from "./chatError";
import { type AnswerContext, type AnswerEvents, namedEvent } from "./dialect";
import {
  type ItemStatus,
  itemId,
  itemJson,
  type OutputItem,
  partJson,
  type ResponseSetting,
  responseEnd,
  responseHead,
} from "./responsesAnswer";

interface ResponsesEventsOptions extends ResponseSetting {
  /** Receives the response when it is whole. */
  readonly onWhole: (response: Json, items: readonly OutputItem[]) => void;
}

/** A stream as OpenAI's Responses API has it: numbered events, items of the output one after the other. */
export class ResponsesEvents implements AnswerEvents {
  readonly #context: AnswerContext;
  readonly #options: ResponsesEventsOptions;
  readonly #items: OutputItem[] = [];
  #head: Json | null = null;
  #sequence = 0;
  #isOpen = false;
  readonly #calls = new CallSequence();
  #finish: string | null = null;
  #usage: ChatDelta["usage"] = null;
  #failed = false;

  constructor(context: AnswerContext, options: ResponsesEventsOptions) {
    this.#context = context;
    this.#options = options;
  }

  delta(delta: ChatDelta): string {
    if (this.#failed) return "";
    let text = this.#begin(delta.model);
    if (delta.reasoning !== "") text += this.#text("reasoning", delta.reasoning);
    if (delta.text !== "") text += this.#text("text", delta.text);
    for (const call of delta.calls) {
      text += this.#call(call);
      if (this.#failed) return text;
    }
    this.#finish = delta.finish ?? this.#finish;
    this.#usage = delta.usage ?? this.#usage;
    return text;
  }

  end(): string {
    if (this.#failed) return "";
    const begun = this.#begin(null);
    const end = responseEnd(this.#finish, this.#usage);
    const status = end.status === "completed" ? "completed" : "incomplete";
    const stopped = this.#stop(status);
    const response = { ...this.#head, ...end, output: this.#output(status) };
    this.#options.onWhole(response, this.#items);
    return begun + stopped + this.#event(`response.${status}`, { response });
  }

  fail({ message, type, code, param }: ChatError): string {
    if (this.#failed) return "";
    const begun = this.#begin(null);
    this.#failed = true;
    const error = { code: code ?? type, message };
    const response = { ...this.#head, status: "failed", error, output: this.#output("incomplete") };
    return begun + this.#event("error", { ...error, param }) + this.#event("response.failed", { response });
  }

  heartbeat(comment: string): string {
    return this.#failed ? "" : `: ${comment}\n\n`;
  }

  #begin(model: string | null): string {
    if (this.#head !== null) return "";
    this.#head = responseHead(this.#context, this.#options, model ?? "");
    return this.#event("response.created", { response: this.#head }) + this.#event("response.in_progress", { response: this.#head });
  }

  #text(kind: "reasoning" | "text", delta: string): string {
    let written = "";
    let item = this.#open;
    if (item?.kind !== kind) {
      item = { kind, id: itemId(kind, this.#context, this.#items.length), text: "" };
      written = this.#start(item) + this.#event("response.content_part.added", { ...this.#part(item), part: partJson(item) });
    }
    item.text += delta;
    if (kind === "reasoning") return written + this.#event("response.reasoning_text.delta", { ...this.#part(item), delta });
    return written + this.#event("response.output_text.delta", { ...this.#part(item), delta, logprobs: [] });
  }

  #call({ index, id, name, arguments: delta }: CallDelta): string {
    let written = "";
    let item = this.#open;
    if (item?.kind !== "call" || item.call.index !== index) {
      const mixed = this.#calls.begin(index);
      if (mixed !== null) return this.fail(mixed);
      item = { kind: "call", id: itemId("call", this.#context, this.#items.length), call: { index, id, name }, text: "" };
      written = this.#start(item);
    }
    if (delta === "") return written;
    item.text += delta;
    return written + this.#event("response.function_call_arguments.delta", { ...this.#place(item), delta });
  }

  get #open(): OutputItem | null {
    return (this.#isOpen && this.#items.at(-1)) || null;
  }

  #start(item: OutputItem): string {
    const stopped = this.#stop("completed");
    this.#items.push(item);
    this.#isOpen = true;
    return (
      stopped + this.#event("response.output_item.added", { output_index: this.#items.length - 1, item: itemJson(item, "in_progress") })
    );
  }

  #stop(status: ItemStatus): string {
    const item = this.#open;
    if (item === null) return "";
    const { text } = item;
    const done = { output_index: this.#items.length - 1, item: itemJson(item, status) };
    const written = this.#textDone(item, text) + this.#event("response.output_item.done", done);
    this.#isOpen = false;
    return written;
  }

  #textDone(item: OutputItem, text: string): string {
    if (item.kind === "call")
      return this.#event("response.function_call_arguments.done", { ...this.#place(item), name: item.call.name ?? "", arguments: text });
    const said =
      item.kind === "reasoning"
        ? this.#event("response.reasoning_text.done", { ...this.#part(item), text })
        : this.#event("response.output_text.done", { ...this.#part(item), text, logprobs: [] });
    return said + this.#event("response.content_part.done", { ...this.#part(item), part: partJson(item) });
  }

  /** The items so far; the last has the status, those before it are whole. */
  #output(status: ItemStatus): readonly Json[] {
    return this.#items.map((item, index) => itemJson(item, index === this.#items.length - 1 ? status : "completed"));
  }

  #place({ id }: OutputItem): Json {
    return { item_id: id, output_index: this.#items.length - 1 };
  }

  #part(item: OutputItem): Json {
    return { ...this.#place(item), content_index: 0 };
  }

  #event(type: string, members: Json): string {
    this.#sequence += 1;
    return namedEvent(type, JSON.stringify({ type, sequence_number: this.#sequence - 1, ...members }));
  }
}
