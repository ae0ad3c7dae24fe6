import { EventStreamReader, eventText } from "@/server/lib/eventStream";
import { parsedOr } from "@/server/lib/parsedOr";
import { isRecord } from "@/solver/collections/isRecord";
import type { Json } from "../http/endpoint";
import { chatUsage, finishOf } from "./providerAnswer";

interface ProviderEventsOptions {
  /** Whether the stream ends with its tokens. */
  readonly includeUsage: boolean;
  readonly nowSeconds: number;
  /** Longest event in characters; a longer one ends the stream. */
  readonly longestEvent: number;
}

/** Makes a stream of Anthropic's Messages API one of chat completions, however its bytes are cut. */
export class ProviderEvents {
  readonly #options: ProviderEventsOptions;
  readonly #reader: EventStreamReader;
  #written = "";
  #head: Json = {};
  #usage: Json = {};
  /** By the index of a block: the number of its tool call. */
  readonly #calls = new Map<unknown, number>();

  constructor(options: ProviderEventsOptions) {
    this.#options = options;
    const { longestEvent } = options;
    this.#reader = new EventStreamReader({ longestEvent, onEvent: ({ data }) => this.#take(parsedOr(data, undefined)) });
  }

  /** The events that these bytes complete. */
  feed(bytes: Uint8Array): string {
    this.#reader.feed(bytes);
    const written = this.#written;
    this.#written = "";
    return written;
  }

  #take(event: unknown): void {
    if (!isRecord(event)) return;
    const member = (name: string): Json => (isRecord(event[name]) ? event[name] : {});
    switch (event.type) {
      case "message_start":
        this.#begin(member("message"));
        break;
      case "content_block_start":
        this.#startBlock(event.index, member("content_block"));
        break;
      case "content_block_delta":
        this.#delta(event.index, member("delta"));
        break;
      case "message_delta":
        this.#usage = { ...this.#usage, ...member("usage") };
        this.#chunk({}, finishOf(member("delta").stop_reason));
        break;
      case "message_stop":
        if (this.#options.includeUsage) this.#write(JSON.stringify({ ...this.#head, choices: [], usage: chatUsage(this.#usage) }));
        this.#write("[DONE]");
        break;
      case "error":
        this.#write(JSON.stringify({ error: event.error }));
        break;
      case "ping":
        // It shows that the provider is there.
        this.#written += ": ping\n\n";
        break;
    }
  }

  #begin({ id, model, usage }: Json): void {
    this.#head = { id, object: "chat.completion.chunk", created: this.#options.nowSeconds, model };
    if (isRecord(usage)) this.#usage = usage;
    this.#chunk({ role: "assistant", content: "" });
  }

  #startBlock(index: unknown, { type, id, name }: Json): void {
    if (type !== "tool_use") return;
    const call = this.#calls.size;
    this.#calls.set(index, call);
    this.#chunk({ tool_calls: [{ index: call, id, type: "function", function: { name, arguments: "" } }] });
  }

  #delta(index: unknown, { type, text, thinking, partial_json: json }: Json): void {
    if (type === "text_delta") this.#chunk({ content: text });
    else if (type === "thinking_delta") this.#chunk({ reasoning_content: thinking });
    else if (type === "input_json_delta" && json !== "")
      this.#chunk({ tool_calls: [{ index: this.#calls.get(index) ?? 0, function: { arguments: json } }] });
  }

  #chunk(delta: Json, finish: string | null = null): void {
    this.#write(JSON.stringify({ ...this.#head, choices: [{ index: 0, delta, finish_reason: finish }] }));
  }

  #write(data: string): void {
    this.#written += eventText(data);
  }
}
