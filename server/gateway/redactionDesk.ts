import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { RedactionChoice, RedactionCounts } from "@/solver/redaction/redactor";

/** A prompt without what the rules found. */
export interface Redacted {
  readonly text: string;
  readonly counts: RedactionCounts;
}

/** A thread starts within some 50 ms; ten seconds is a machine that is stuck. */
const startLimitMs = 10_000;

/** Redacts prompts one after the other in a thread of its own, which is ended where one takes too long. */
export class RedactionDesk {
  readonly #choice: RedactionChoice;
  readonly #limitMs: number;
  #worker: Promise<Worker> | null = null;
  #closed = false;

  constructor(choice: RedactionChoice, limitMs: number) {
    this.#choice = choice;
    this.#limitMs = limitMs;
  }

  /** @param prompt JSON of a chat request's fields. Asked for the next only when the last is back. Never rejects. */
  async redact(prompt: string): Promise<Redacted | "too-slow" | "failed"> {
    try {
      this.#worker ??= this.#start();
      const worker = await this.#worker;
      if (this.#closed) return "failed";
      worker.postMessage(prompt);
      const reply = await nextReply(worker, this.#limitMs);
      if (reply === "late") {
        await this.#end();
        return "too-slow";
      }
      return reply === null ? "failed" : (reply as Redacted);
    } catch {
      await this.#end();
      return "failed";
    }
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
    const worker = new Worker(workerFile(), { workerData: this.#choice, resourceLimits: { maxOldGenerationSizeMb: 256 } });
    // It must not keep the process, and what it fails with might quote a prompt.
    worker.unref();
    worker.on("error", () => undefined);
    if ((await nextReply(worker, startLimitMs)) === "ready") return worker;
    await worker.terminate();
    throw new Error("The thread for redaction did not start.");
  }
}

/** The next thing a worker says; rejects where it ends before. */
function nextReply(worker: Worker, limitMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      clearTimeout(limit);
      worker.off("message", said).off("exit", gone);
      act();
    };
    const said = (message: unknown): void => settle(() => resolve(message));
    const gone = (): void => settle(() => reject(new Error("The thread for redaction ended.")));
    const limit = setTimeout(() => settle(() => resolve("late")), limitMs);
    worker.on("message", said).on("exit", gone);
  });
}

/** The bundled worker: beside the bundle that this code is part of, else under WEIR_ROOT or the working directory. */
function workerFile(): string {
  const beside = dirname(fileURLToPath(import.meta.url));
  const folders = [beside, join(process.env.WEIR_ROOT ?? process.cwd(), "dist")];
  const file = folders.map((folder) => join(folder, "redactionWorker.mjs")).find((candidate) => existsSync(candidate));
  if (file === undefined) throw new Error(`redactionWorker.mjs is in none of ${folders.join(", ")}: run npm run bundle.`);
  return file;
}
