import type { Dispatcher } from "undici";
import { z } from "zod";
import {
  type EnginePriority,
  type PriorityUse,
  priorityFor,
  priorityUseOfAnswer,
  readPriorityUse,
  settingsPaths,
} from "@/server/engines/priorityUse";
import { callEngine } from "./engineCall";
import { readEngine } from "./engineRead";

interface ProbedEngine {
  readonly pool: Dispatcher;
  readonly basePath: string;
  readonly model: string;
}

/** vLLM's first answer takes seconds, since it inspects its host for it. */
const readLimits = { timeoutMs: 5_000, mostBytes: 1_000_000 };
/** The one-token request may have to wait its turn in the engine. */
const probeMs = 60_000;
/** Time between probes of an engine: after a failed probe, and after one whose result may be out of date because the engine restarted. */
const unknownAgainMs = 60_000;
const doubtfulAgainMs = 2_000;

const versionSchema = z.object({ version: z.string() });

/**
 * Finds out how one engine handles `priority`, once that is needed: from its settings if it shows them; otherwise, if `/version` says that
 * it is of vLLM's kind, by a request for one token with a priority. Until that is known, and for engines of an unknown kind, the field is
 * not sent.
 */
export class PriorityProbe {
  readonly #engine: ProbedEngine;
  #use: PriorityUse | null = null;
  #finding = false;
  /** When the last answer came. */
  #foundMs = Number.NEGATIVE_INFINITY;
  #againAtMs = Number.NEGATIVE_INFINITY;
  /** Incremented when the finding may no longer hold. */
  #epoch = 0;

  constructor(engine: ProbedEngine) {
    this.#engine = engine;
  }

  /** What to send for the priority a client gave; null for a request without. */
  priorityFor(asked: number | null): EnginePriority {
    if (asked !== null && this.#use === null && !this.#finding && performance.now() >= this.#againAtMs) void this.#find();
    return priorityFor(asked, this.#use);
  }

  /** The engine may have restarted with other settings. */
  forget(): void {
    if (this.#use !== null) this.#againAtMs = this.#foundMs + doubtfulAgainMs;
    this.#use = null;
    this.#epoch += 1;
  }

  async #find(): Promise<void> {
    this.#finding = true;
    const epoch = this.#epoch;
    const use = await this.#ask();
    this.#finding = false;
    this.#foundMs = performance.now();
    const doubtful = epoch !== this.#epoch;
    this.#use = doubtful ? null : use;
    this.#againAtMs = this.#foundMs + (doubtful ? doubtfulAgainMs : unknownAgainMs);
  }

  async #ask(): Promise<PriorityUse | null> {
    for (const path of settingsPaths) {
      const use = readPriorityUse(await this.#json(path));
      if (use !== null) return use;
    }
    if (!versionSchema.safeParse(await this.#json("/version")).success) return null;
    const { pool, basePath, model } = this.#engine;
    const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hi" }], max_tokens: 1, priority: 1 });
    const headers = { "content-type": "application/json" };
    const signal = AbortSignal.timeout(probeMs);
    const reply = await callEngine({
      pool,
      path: `${basePath}/v1/chat/completions`,
      headers,
      body,
      signal,
      mostBytes: readLimits.mostBytes,
    });
    return reply.kind === "answered" ? priorityUseOfAnswer(reply.status) : null;
  }

  async #json(path: string): Promise<unknown> {
    const { pool, basePath } = this.#engine;
    const read = await readEngine(pool, `${basePath}${path}`, readLimits);
    if (read.kind !== "answered" || read.status !== 200) return null;
    try {
      return JSON.parse(read.text);
    } catch {
      return null;
    }
  }
}
