import { isRecord } from "@/solver/collections/isRecord";
import { readEngine } from "./engineRead";
import type { Replica } from "./replica";

const path = "/v1/models";
const limits = { timeoutMs: 2_000, mostBytes: 1024 * 1024 };
/** How long an answer counts: the engine may be replaced by one that is started otherwise. */
const keptMs = 60_000;

interface Known {
  readonly untilMs: number;
  readonly tokens: Promise<number | null>;
}

/** How many tokens engines take for a prompt with its answer, as vLLM and SGLang say (`max_model_len`). */
export class ContextLengths {
  readonly #replicas: () => readonly Replica[];
  readonly #known = new WeakMap<Replica, Known>();

  constructor(replicas: () => readonly Replica[]) {
    this.#replicas = replicas;
  }

  /** The most tokens that each of these models takes; null if an engine of one does not say. */
  async of(models: readonly string[]): Promise<number | null> {
    const lengths = await Promise.all(models.map((model) => this.#ofModel(model)));
    const known = lengths.filter((length) => length !== null);
    return known.length === 0 || known.length < lengths.length ? null : Math.min(...known);
  }

  async #ofModel(model: string): Promise<number | null> {
    const engine = this.#replicas().find((replica) => replica.model === model && replica.accepting);
    if (engine === undefined) return null;
    const nowMs = performance.now();
    let known = this.#known.get(engine);
    if (known === undefined || known.untilMs < nowMs) {
      known = { untilMs: nowMs + keptMs, tokens: readLength(engine) };
      this.#known.set(engine, known);
    }
    return known.tokens;
  }
}

async function readLength({ pool, basePath, servedName }: Replica): Promise<number | null> {
  const read = await readEngine(pool, basePath + path, limits);
  if (read.kind !== "answered" || read.status !== 200) return null;
  try {
    const list: unknown = JSON.parse(read.text);
    const data = isRecord(list) && Array.isArray(list.data) ? list.data.filter(isRecord) : [];
    const { max_model_len: tokens } = data.find(({ id }) => id === servedName) ?? {};
    return typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens > 0 ? tokens : null;
  } catch {
    return null;
  }
}
