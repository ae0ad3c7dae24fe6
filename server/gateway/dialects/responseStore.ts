import type { Json } from "../http/endpoint";

/** A response, and the conversation that another may continue. */
export interface StoredResponse {
  readonly response: Json;
  /** Messages as of chat completions, with the response's own. */
  readonly conversation: readonly Json[];
}

interface Entry {
  /** Name of the API key that made it; null: none was needed. */
  readonly owner: string | null;
  readonly json: Buffer;
  readonly expiry: NodeJS.Timeout;
}

/** Keeps responses in memory for a time. The oldest make room for new ones. */
export class ResponseStore {
  readonly #mostBytes: number;
  readonly #keepMs: number;
  /** In the order in which they were kept. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor({ mostBytes, seconds }: { readonly mostBytes: number; readonly seconds: number }) {
    this.#mostBytes = mostBytes;
    this.#keepMs = seconds * 1000;
  }

  /** Bytes of the kept responses. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps a response; one that is larger than the whole store is not kept. */
  keep(id: string, owner: string | null, stored: StoredResponse): void {
    const json = Buffer.from(JSON.stringify(stored));
    if (json.length > this.#mostBytes) return;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes + json.length <= this.#mostBytes) break;
      this.#drop(oldest);
    }
    const expiry = setTimeout(() => this.#drop(id), this.#keepMs).unref();
    this.#entries.set(id, { owner, json, expiry });
    this.#bytes += json.length;
  }

  /** A response of this owner; null if there is none. */
  find(id: string, owner: string | null): StoredResponse | null {
    const entry = this.#entries.get(id);
    return entry === undefined || entry.owner !== owner ? null : JSON.parse(entry.json.toString());
  }

  /** Forgets a response of this owner; false if there is none. */
  remove(id: string, owner: string | null): boolean {
    if (this.#entries.get(id)?.owner !== owner) return false;
    return this.#drop(id);
  }

  /** Forgets all. */
  close(): void {
    for (const id of this.#entries.keys()) this.#drop(id);
  }

  #drop(id: string): boolean {
    const entry = this.#entries.get(id);
    if (entry === undefined) return false;
    clearTimeout(entry.expiry);
    this.#entries.delete(id);
    this.#bytes -= entry.json.length;
    return true;
  }
}
