import type { EventSourceMessage } from "eventsource-parser";
import { EventStreamReader, isDone } from "@/server/lib/eventStream";
import { parsedOr } from "@/server/lib/parsedOr";
import { isRecord } from "@/solver/collections/isRecord";
import { chatDelta } from "./chatDelta";
import { chatErrorOf } from "./chatError";
import type { AnswerEvents } from "./dialect";

/** Translates a stream of chat completions event by event, however its bytes are cut. */
export class TranslatedStream {
  readonly #events: AnswerEvents;
  readonly #reader = new EventStreamReader({
    onEvent: (event) => {
      this.#written += this.#translated(event);
    },
    onComment: (comment) => {
      if (!this.#over) this.#written += this.#events.heartbeat(comment);
    },
  });
  #written = "";
  /** The end or an error was sent: nothing follows. */
  #over = false;

  constructor(events: AnswerEvents) {
    this.#events = events;
  }

  /** The events that these bytes complete. */
  feed(bytes: Uint8Array): string {
    this.#reader.feed(bytes);
    return this.#take();
  }

  /** What is left when the stream is closed. One that is closed without an end or an error has failed. */
  close(): string {
    this.#reader.end();
    if (!this.#over) {
      this.#over = true;
      this.#written += this.#events.fail(chatErrorOf("The stream ended before the answer was complete.", null));
    }
    return this.#take();
  }

  #translated(event: EventSourceMessage): string {
    if (this.#over) return "";
    if (isDone(event)) {
      this.#over = true;
      return this.#events.end();
    }
    const chunk = parsedOr(event.data, undefined);
    if (!isRecord(chunk)) return "";
    if (!isRecord(chunk.error)) return this.#events.delta(chatDelta(chunk));
    this.#over = true;
    return this.#events.fail(chatErrorOf(event.data, null));
  }

  #take(): string {
    const written = this.#written;
    this.#written = "";
    return written;
  }
}
