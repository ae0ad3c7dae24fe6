import type { Dispatcher } from "undici";
import { z } from "zod";
import { type EngineRead, readEngine } from "./engineRead";

const timeoutMs = 2_000;
/** A proxy may list some thousand models. */
const mostBytes = 1_000_000;

const modelListSchema = z.object({ data: z.array(z.object({ id: z.string() })) });

interface Asked {
  readonly pool: Dispatcher;
  /** Base path of its API. */
  readonly basePath: string;
  /** What the engine calls its model. */
  readonly servedName: string;
}

export interface Health {
  readonly read: EngineRead;
  /** Why it can be given no requests; null if it can. */
  readonly unhealthyReason: string | null;
  /** True if all that is known is that its model is listed. */
  readonly listedOnly: boolean;
}

/**
 * Checks the health of one engine: `/health` with status 200, or, if there is no such path, as at Ray Serve LLM, Ollama and proxies,
 * `/v1/models`, which must list its model. The path that exists is remembered until it answers 404.
 */
export class HealthCheck {
  readonly #asked: Asked;
  #hasHealth = true;

  constructor(asked: Asked) {
    this.#asked = asked;
  }

  async ask(): Promise<Health> {
    let read = await this.#read();
    if (isNotFound(read)) {
      this.#hasHealth = !this.#hasHealth;
      read = await this.#read();
    }
    return { read, unhealthyReason: this.#unhealthyReason(read), listedOnly: !this.#hasHealth };
  }

  get #path(): string {
    return this.#hasHealth ? "/health" : "/v1/models";
  }

  #read(): Promise<EngineRead> {
    const { pool, basePath } = this.#asked;
    return readEngine(pool, basePath + this.#path, { timeoutMs, mostBytes });
  }

  #unhealthyReason(read: EngineRead): string | null {
    if (read.kind !== "answered") return read.reason;
    if (isNotFound(read)) return "neither /health nor /v1/models is found there";
    if (read.status !== 200) return `${this.#path} answered ${read.status}`;
    const { servedName } = this.#asked;
    return this.#hasHealth || lists(read.text, servedName) ? null : `/v1/models does not list ${servedName}`;
  }
}

const isNotFound = (read: EngineRead): boolean => read.kind === "answered" && read.status === 404;

function lists(text: string, name: string): boolean {
  try {
    return modelListSchema.parse(JSON.parse(text)).data.some(({ id }) => id === name);
  } catch {
    return false;
  }
}
