import { Worker } from "node:worker_threads";
import type { RedactionChoice, RedactionCounts } from "@/solver/redaction/redactor";
import { bundledWorker } from "./bundledWorker";

/** A prompt without what the rules found. */
export interface Redacted {
  readonly text: string;
  readonly counts: RedactionCounts;
}

/** A thread starts within some 50 ms; ten seconds is a machine that is stuck. */
const startLimitMs = 10_000;

export type RedactionOutcome = Redacted | "too-slow" | "failed";

/** Redacts prompts one after the other in a thread of its own, which is ended where one takes too long. */
export class RedactionDesk {
  readonly #choice: RedactionChoice;
  readonly #limitMs: number;
  #worker: Promise<Worker> | null = null;
  #closed = false;

  /** @param limitMs for one prompt. */
  constructor(choice: RedactionChoice, limitMs: number) {
    this.#choice = choice;
    this.#limitMs = limitMs;
  }

  /** @param prompts JSON of chat requests' fields. The next are asked for only when these are back. @returns as many outcomes. Never rejects. */
  async redact(prompts: readonly string[]): Promise<readonly RedactionOutcome[]> {
    const outcomes: RedactionOutcome[] = [];
    while (outcomes.length < prompts.length) {
      try {
        this.#worker ??= this.#start();
        const worker = await this.#worker;
        if (this.#closed) throw new Error("The desk is closed.");
        const rest = prompts.slice(outcomes.length);
        for (const prompt of rest) worker.postMessage(prompt);
        const { replies, late } = await nextReplies(worker, rest.length, this.#limitMs);
        outcomes.push(...replies.map((reply) => (reply === null ? "failed" : (reply as Redacted))));
        if (replies.length === rest.length) break;
        outcomes.push(late ? "too-slow" : "failed");
        await this.#end();
      } catch {
        await this.#end();
        return [...outcomes, ...prompts.slice(outcomes.length).map(() => "failed" as const)];
      }
    }
    return outcomes;
  }

  close(): void {
    this.#closed = true;
    void this.#end();
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await (await worker?.catch(() => undefined))?.terminate();
  }

  async #start(): Promise<Worker> {
    const worker = new Worker(bundledWorker("redactionWorker"), {
      workerData: this.#choice,
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    // It must not keep the process, and what it fails with might quote a prompt.
    worker.unref();
    worker.on("error", () => undefined);
    if ((await nextReplies(worker, 1, startLimitMs)).replies.length === 1) return worker;
    await worker.terminate();
    throw new Error("The thread for redaction did not start.");
  }
}

/** The next things that a worker says; fewer where one takes too long, or the worker ends. */
function nextReplies(
  worker: Worker,
  count: number,
  limitMs: number,
): Promise<{ readonly replies: readonly unknown[]; readonly late: boolean }> {
  return new Promise((resolve) => {
    const replies: unknown[] = [];
    const end = (late: boolean): void => {
      clearTimeout(limit);
      worker.off("message", said).off("exit", gone);
      resolve({ replies, late });
    };
    const said = (message: unknown): void => {
      replies.push(message);
      if (replies.length === count) end(false);
      else limit.refresh();
    };
    const gone = (): void => end(false);
    const limit = setTimeout(() => end(true), limitMs);
    worker.on("message", said).on("exit", gone);
  });
}
