import { type JsonLimits, JsonScan } from "@/server/contracts/http/jsonScan";
import type { Json } from "../http/endpoint";

/** A response, and the conversation that another may continue. */
export interface StoredResponse {
  readonly response: Json;
  /** Messages as of chat completions, with the response's own. */
  readonly conversation: readonly Json[];
}

/** A conversation that a body continues. */
export interface Continued {
  readonly conversation: readonly Json[];
  /** Of its JSON. */
  readonly byteLength: number;
}

/** Items of kept responses that a body names. */
export interface NamedItems {
  /** By id; those that are not kept are left out. */
  readonly items: ReadonlyMap<string, Json>;
  /** Of the JSON of all, each as often as it is named. */
  readonly byteLength: number;
}

/** The answer's id within that of an item, which `itemJson` makes. */
const answerOfItem = /^[a-z]+_(.+)_\d+$/;

interface ResponseStoreOptions {
  /** Of all responses. */
  readonly mostBytes: number;
  /** Seconds for which each is kept. */
  readonly seconds: number;
  /** Of one response, and of a conversation with the body that continues it. */
  readonly bodyBytes: number;
  readonly bodyJson: JsonLimits;
}

interface Entry {
  /** SHA-256 of the API key that made it; null: none was needed. */
  readonly owner: string | null;
  readonly response: Buffer;
  readonly conversation: Buffer;
  readonly expiry: NodeJS.Timeout;
}

/** Keeps responses in memory for a time. The oldest make room for new ones. */
export class ResponseStore {
  readonly #options: ResponseStoreOptions;
  /** In the order in which they were kept. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(options: ResponseStoreOptions) {
    this.#options = options;
  }

  /** Bytes of the kept responses. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps a response; one that is larger than the whole store, or than a body may be, is not kept. */
  keep(id: string, owner: string | null, stored: StoredResponse): void {
    const { mostBytes, bodyBytes, seconds } = this.#options;
    const response = Buffer.from(JSON.stringify(stored.response));
    const conversation = Buffer.from(JSON.stringify(stored.conversation));
    const bytes = response.length + conversation.length;
    if (bytes > Math.min(mostBytes, bodyBytes)) return;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes + bytes <= mostBytes) break;
      this.#drop(oldest);
    }
    const expiry = setTimeout(() => this.#drop(id), seconds * 1000).unref();
    this.#entries.set(id, { owner, response, conversation, expiry });
    this.#bytes += bytes;
  }

  /** The JSON of a response of this owner; null if there is none. */
  find(id: string, owner: string | null): Buffer | null {
    return this.#entryOf(id, owner)?.response ?? null;
  }

  /**
   * The conversation of a response of this owner; null if there is none.
   * @param body the text of the body that continues it.
   * @returns "too-large" if both together are more than one body may be.
   */
  continued(id: string, owner: string | null, body: string): Continued | "too-large" | null {
    const entry = this.#entryOf(id, owner);
    if (entry === null) return null;
    const { bodyBytes, bodyJson } = this.#options;
    const { conversation } = entry;
    if (conversation.length + Buffer.byteLength(body) > bodyBytes) return "too-large";
    const scan = new JsonScan(bodyJson);
    if ((scan.push(conversation) ?? scan.push(Buffer.from(body))) !== null) return "too-large";
    return { conversation: JSON.parse(conversation.toString()), byteLength: conversation.length };
  }

  /**
   * Items of kept responses of this owner, by their ids.
   * @param body the text of the body that names them.
   * @returns "too-large" if all together are more than one body may be.
   */
  items(ids: readonly string[], owner: string | null, body: string): NamedItems | "too-large" {
    const { bodyBytes, bodyJson } = this.#options;
    const scan = new JsonScan(bodyJson);
    const outputs = new Map<string, readonly Json[]>();
    const items = new Map<string, Json>();
    let byteLength = 0;
    for (const id of ids) {
      const answer = answerOfItem.exec(id)?.[1] ?? "";
      const output = outputs.get(answer) ?? this.#outputOf(answer, owner);
      outputs.set(answer, output);
      const item = output.find((one) => one.id === id);
      if (item === undefined) continue;
      const text = Buffer.from(JSON.stringify(item));
      byteLength += text.length;
      if (byteLength + Buffer.byteLength(body) > bodyBytes || scan.push(text) !== null) return "too-large";
      items.set(id, item);
    }
    return scan.push(Buffer.from(body)) === null ? { items, byteLength } : "too-large";
  }

  /** Forgets a response of this owner; false if there is none. */
  remove(id: string, owner: string | null): boolean {
    return this.#entryOf(id, owner) !== null && this.#drop(id);
  }

  /** Forgets all. */
  close(): void {
    for (const id of this.#entries.keys()) this.#drop(id);
  }

  #outputOf(answer: string, owner: string | null): readonly Json[] {
    const response = this.#entryOf(`resp_${answer}`, owner)?.response;
    return response === undefined ? [] : (JSON.parse(response.toString()) as { readonly output: readonly Json[] }).output;
  }

  #entryOf(id: string, owner: string | null): Entry | null {
    const entry = this.#entries.get(id);
    return entry === undefined || entry.owner !== owner ? null : entry;
  }

  #drop(id: string): boolean {
    const entry = this.#entries.get(id);
    if (entry === undefined) return false;
    clearTimeout(entry.expiry);
    this.#entries.delete(id);
    this.#bytes -= entry.response.length + entry.conversation.length;
    return true;
  }
}
