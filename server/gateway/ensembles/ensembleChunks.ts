import type { EventSourceMessage } from "eventsource-parser";
import { EventStreamReader, eventText, isDone } from "@/server/lib/eventStream";
import { isRecord } from "@/solver/collections/isRecord";
import { noUsage, type Usage, usageOf } from "../http/usage";

interface ChunkOptions {
  /** Identity of the completion in the stream's chunks. */
  readonly id: string;
  readonly model: string;
  readonly includeUsage: boolean;
  /** The usage to report, computed from the aggregator's own. */
  readonly sum: (own: Usage) => object | undefined;
}

/**
 * Rewrites the aggregator's stream as the ensemble's: the same chunks under the ensemble's name, with the usage of all calls, which is left
 * out if the client did not ask for it. Data that no client could read is also left out.
 */
export class EnsembleChunks {
  readonly #options: ChunkOptions;
  readonly #events = new EventStreamReader({
    onEvent: (event) => {
      this.#written += this.#event(event);
    },
    onComment: (comment) => {
      this.#written += `: ${comment}\n\n`;
    },
  });
  /** Output for the events read since the last `feed`. */
  #written = "";
  /** Whether the stream ended without an error. */
  whole = false;
  /** Whether the client got an error. */
  broken = false;
  #toldUsage = false;
  /** The latest chunk's timestamp, for a chunk of the gateway's own. */
  #created: unknown;

  constructor(options: ChunkOptions) {
    this.#options = options;
  }

  /** The whole events that can be passed on by now. */
  feed(chunk: Uint8Array): string {
    this.#events.feed(chunk);
    return this.#take();
  }

  /** The rest at the end. */
  flush(): string {
    this.#events.end();
    return this.#take();
  }

  #take(): string {
    const written = this.#written;
    this.#written = "";
    return written;
  }

  #event(event: EventSourceMessage): string {
    // A [DONE] behind an error would make the answer look whole.
    if (this.broken) return "";
    if (isDone(event)) {
      this.whole = true;
      return `${this.#untoldUsage()}${eventText(event.data)}`;
    }
    const chunk = parsed(event.data);
    if (!isRecord(chunk)) return "";
    if (chunk.error != null) {
      this.broken = true;
      return eventText(event.data);
    }
    const { id, model, includeUsage, sum } = this.#options;
    const { usage, ...rest } = chunk;
    const named = { ...rest, id, model };
    this.#created = chunk.created;
    if (!isRecord(usage)) return eventText(JSON.stringify(named));
    if (includeUsage) {
      this.#toldUsage = true;
      return eventText(JSON.stringify({ ...named, usage: sum(usageOf(chunk)) }));
    }
    return Array.isArray(chunk.choices) && chunk.choices.length > 0 ? eventText(JSON.stringify(named)) : "";
  }

  /** The usage of the other calls, if the aggregator's engine reports none. */
  #untoldUsage(): string {
    const { id, model, includeUsage, sum } = this.#options;
    const usage = includeUsage && !this.#toldUsage ? sum(noUsage) : undefined;
    if (usage === undefined) return "";
    return eventText(JSON.stringify({ id, object: "chat.completion.chunk", created: this.#created, model, choices: [], usage }));
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
