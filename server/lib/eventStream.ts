import { createParser, type EventSourceMessage, type EventSourceParser } from "eventsource-parser";

interface EventStreamOptions {
  readonly onEvent: (event: EventSourceMessage) => void;
  readonly onComment?: (comment: string) => void;
  /** Characters of one event; a longer one ends the reading and sets `overlong`. Without it there is no bound. */
  readonly longestEvent?: number;
}

/** Reads a stream of server-sent events from its bytes, however they are cut. Each event is reported once its blank line has come. */
export class EventStreamReader {
  readonly #parser: EventSourceParser;
  readonly #decoder = new TextDecoder();
  /** Whether an event came that is longer than any is read; nothing is read after it. */
  overlong = false;

  constructor({ onEvent, onComment, longestEvent }: EventStreamOptions) {
    this.#parser = createParser({
      onEvent,
      onComment,
      maxBufferSize: longestEvent,
      onError: ({ type }) => {
        if (type === "max-buffer-size-exceeded") this.overlong = true;
      },
    });
  }

  feed(chunk: Uint8Array): void {
    if (!this.overlong) this.#parser.feed(this.#decoder.decode(chunk, { stream: true }));
  }

  /** The stream is over: an event that lacks only its blank line, or the end of its last line, counts. */
  end(): void {
    if (!this.overlong) this.#parser.feed(`${this.#decoder.decode()}\n\n`);
  }
}

/** The events of a stream that has come as a whole. */
export function eventsOf(text: string): readonly EventSourceMessage[] {
  const events: EventSourceMessage[] = [];
  createParser({ onEvent: (event) => events.push(event) }).feed(`${text}\n\n`);
  return events;
}

/** Whether an event is the one that ends a stream of completions. */
export function isDone({ data }: EventSourceMessage): boolean {
  return data.trim() === "[DONE]";
}

/** An event as it is written to a stream. */
export function eventText(data: string): string {
  return `${data.replace(/^/gm, "data: ")}\n\n`;
}
