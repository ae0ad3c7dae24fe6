import type { EventSourceMessage } from "eventsource-parser";
import type { FinishReason } from "@/server/contracts/gateway/gatewayAdmin";
import { EventStreamReader, isDone } from "@/server/lib/eventStream";
import { parsedOr } from "@/server/lib/parsedOr";
import { isRecord } from "@/solver/collections/isRecord";
import { finishReasonsOf, joinedReasons } from "../http/finishReasons";
import { noUsage, type Usage, usageOf } from "../http/usage";
import { isErrorDocument, wrappedError } from "./engineError";

/** Characters of an engine's message in records and errors. */
const shownCharacters = 300;

/** Bytes of one event, which must be held until its end has come. */
const longestEvent = 8 * 1024 * 1024;
/** Why a stream with a longer event has failed. */
export const overlong = `one event of its stream is longer than ${longestEvent} characters`;

/** Neither can occur inside a JSON string, where quotes are escaped. */
const worthParsing = /"usage": ?\{|"finish_reason": ?"|"error": ?[^n ]|"object": ?"error"/;

/**
 * Parses an engine's event stream without changing it: when the first token came, whether the engine reported an error, and the usage at
 * the end. After the first token only events that carry usage, the end of a choice or an error are parsed.
 */
export class StreamScanner {
  readonly #events = new EventStreamReader({ onEvent: (event) => this.#take(event), longestEvent });
  sawToken = false;
  /** The engine's own message when it sent an error event. */
  error: string | null = null;
  /** The text of that event, in the form that clients read. */
  errorText: string | null = null;
  usage: Usage = noUsage;
  finishReasons: readonly FinishReason[] = [];
  /** Whether the stream signalled its end. */
  ended = false;

  /** Whether an event exceeded the size limit. */
  get overlong(): boolean {
    return this.#events.overlong;
  }

  feed(chunk: Buffer): void {
    this.#events.feed(chunk);
  }

  /** The engine has closed the stream: its last line counts even without a line end. */
  close(): void {
    this.#events.end();
  }

  #take(event: EventSourceMessage): void {
    const { data } = event;
    if (isDone(event)) this.ended = true;
    else if (!this.sawToken || worthParsing.test(data)) this.#read(parsedOr(data, undefined));
  }

  #read(document: unknown): void {
    if (!isRecord(document)) return;
    const { choices } = document;
    if (isErrorDocument(document)) {
      const wrapped = wrappedError(document, "server_error");
      const { message } = wrapped.error;
      this.error ??= typeof message === "string" ? message.slice(0, shownCharacters) : "the engine reported an error";
      this.errorText ??= JSON.stringify(wrapped);
    }
    if (isRecord(document.usage)) this.usage = usageOf(document);
    this.finishReasons = joinedReasons(this.finishReasons, finishReasonsOf(document));
    if (Array.isArray(choices) && choices.some(carriesToken)) this.sawToken = true;
  }
}

/** Text, a delta with anything but a role and empty text, or the end of a choice. */
function carriesToken(choice: unknown): boolean {
  if (!isRecord(choice)) return false;
  if (typeof choice.finish_reason === "string" || (typeof choice.text === "string" && choice.text !== "")) return true;
  if (!isRecord(choice.delta)) return false;
  return Object.entries(choice.delta).some(([name, value]) => name !== "role" && value !== null && value !== "" && value !== undefined);
}
