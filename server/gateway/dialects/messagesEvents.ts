import type { Json } from "../http/endpoint";
import { CallSequence } from "./callSequence";
import type { CallDelta, ChatDelta } from "./chatDelta";
import type { ChatError } from "./chatError";
import { type AnswerContext, type AnswerEvents, namedEvent } from "./dialect";
import { emptyUsage, messageEnd, messageHead, messageUsage } from "./messagesAnswer";
import { messagesErrorJson } from "./messagesErrors";

type Block = { readonly kind: "thinking" | "text" } | { readonly kind: "tool"; readonly call: number };

const event = (type: string, members: Json): string => namedEvent(type, JSON.stringify({ type, ...members }));

/** A stream as Anthropic's Messages API has it: blocks one after the other, each begun and stopped. */
export class MessagesEvents implements AnswerEvents {
  readonly #context: AnswerContext;
  readonly #showsThinking: boolean;
  #begun = false;
  #blocks = 0;
  #open: Block | null = null;
  readonly #calls = new CallSequence();
  #end: Pick<ChatDelta, "finish" | "stopSequence"> = { finish: null, stopSequence: null };
  #usage: ChatDelta["usage"] = null;
  #failed = false;

  constructor(context: AnswerContext, { showsThinking }: { readonly showsThinking: boolean }) {
    this.#context = context;
    this.#showsThinking = showsThinking;
  }

  delta(delta: ChatDelta): string {
    if (this.#failed) return "";
    let text = this.#begin(delta.model);
    if (this.#showsThinking && delta.reasoning !== "") text += this.#add({ kind: "thinking" }, delta.reasoning);
    if (delta.text !== "") text += this.#add({ kind: "text" }, delta.text);
    for (const call of delta.calls) {
      text += this.#call(call);
      if (this.#failed) return text;
    }
    if (delta.finish !== null) this.#end = delta;
    this.#usage = delta.usage ?? this.#usage;
    return text;
  }

  end(): string {
    if (this.#failed) return "";
    // The clients take the tokens of the prompt from here: engines report them at the end.
    const usage = this.#usage === null ? emptyUsage : messageUsage(this.#usage);
    const delta = messageEnd(this.#end, this.#calls.hasBegun);
    return `${this.#begin(null)}${this.#stop()}${event("message_delta", { delta, usage })}${event("message_stop", {})}`;
  }

  fail(error: ChatError): string {
    if (this.#failed) return "";
    this.#failed = true;
    return namedEvent("error", messagesErrorJson(error, this.#context));
  }

  heartbeat(): string {
    return this.#failed ? "" : event("ping", {});
  }

  #begin(model: string | null): string {
    if (this.#begun) return "";
    this.#begun = true;
    const head = messageHead({ id: this.#context.answerId, model: model ?? "" });
    return event("message_start", { message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage: emptyUsage } });
  }

  #add(block: { readonly kind: "thinking" | "text" }, text: string): string {
    const start = this.#open?.kind === block.kind ? "" : this.#start(block, starts[block.kind]);
    const delta = block.kind === "text" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text };
    return start + this.#delta(delta);
  }

  #call({ index, id, name, arguments: text }: CallDelta): string {
    const isOpen = this.#open?.kind === "tool" && this.#open.call === index;
    const mixed = isOpen ? null : this.#calls.begin(index);
    if (mixed !== null) return this.fail(mixed);
    const block = { type: "tool_use", id: id ?? "", name: name ?? "", input: {} };
    const start = isOpen ? "" : this.#start({ kind: "tool", call: index }, block);
    return start + (text === "" ? "" : this.#delta({ type: "input_json_delta", partial_json: text }));
  }

  #start(block: Block, content: Json): string {
    const text = this.#stop();
    this.#open = block;
    this.#blocks += 1;
    return text + event("content_block_start", { index: this.#blocks - 1, content_block: content });
  }

  #delta(delta: Json): string {
    return event("content_block_delta", { index: this.#blocks - 1, delta });
  }

  #stop(): string {
    if (this.#open === null) return "";
    this.#open = null;
    return event("content_block_stop", { index: this.#blocks - 1 });
  }
}

const starts = {
  thinking: { type: "thinking", thinking: "", signature: "" },
  text: { type: "text", text: "", citations: null },
} as const;
