import { isRecord } from "./isRecord";
import { noUsage, type Usage, usageOf } from "./usage";

interface ChunkOptions {
  /** What the stream's chunks say who they are of. */
  readonly id: string;
  readonly model: string;
  readonly includeUsage: boolean;
  /** The usage to be told, given the aggregator's own. */
  readonly sum: (own: Usage) => object | undefined;
}

/**
 * The aggregator's stream as the ensemble's: the same chunks under the ensemble's name, with the usage of all calls, which is left out where nobody asked
 * for it. Data that no client could read is left out too.
 */
export class EnsembleChunks {
  readonly #options: ChunkOptions;
  readonly #decoder = new TextDecoder();
  #rest = "";
  /** Whether it came to its end without an error. */
  whole = false;
  /** Whether the client was told of an error. */
  broken = false;
  #toldUsage = false;
  /** The latest chunk's, for one of the gateway's own. */
  #created: unknown;

  constructor(options: ChunkOptions) {
    this.#options = options;
  }

  /** What can be passed on of it by now: whole events. */
  feed(chunk: Uint8Array): string {
    const events = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split(/\r?\n\r?\n/);
    this.#rest = events.pop() ?? "";
    return events.map((event) => this.#event(event)).join("");
  }

  /** What is left at the end. */
  flush(): string {
    const rest = this.#rest;
    this.#rest = "";
    return rest.trim() === "" ? "" : this.#event(rest);
  }

  #event(event: string): string {
    const lines = [...event.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line);
    if (lines.length === 0) return `${event}\n\n`;
    const data = lines.join("\n").trim();
    if (data === "[DONE]") {
      this.whole = !this.broken;
      return `${this.#untoldUsage()}${event}\n\n`;
    }
    const chunk = parsed(data);
    if (!isRecord(chunk)) return "";
    if (chunk.error != null) {
      this.broken = true;
      return `${event}\n\n`;
    }
    const { id, model, includeUsage, sum } = this.#options;
    const { usage, ...rest } = chunk;
    const named = { ...rest, id, model };
    this.#created = chunk.created;
    if (!isRecord(usage)) return `data: ${JSON.stringify(named)}\n\n`;
    if (includeUsage) {
      this.#toldUsage = true;
      return `data: ${JSON.stringify({ ...named, usage: sum(usageOf(chunk)) })}\n\n`;
    }
    return Array.isArray(chunk.choices) && chunk.choices.length > 0 ? `data: ${JSON.stringify(named)}\n\n` : "";
  }

  /** What the other calls used, where the aggregator's engine tells nothing of its own. */
  #untoldUsage(): string {
    const { id, model, includeUsage, sum } = this.#options;
    const usage = includeUsage && !this.#toldUsage ? sum(noUsage) : undefined;
    if (usage === undefined) return "";
    return `data: ${JSON.stringify({ id, object: "chat.completion.chunk", created: this.#created, model, choices: [], usage })}\n\n`;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
