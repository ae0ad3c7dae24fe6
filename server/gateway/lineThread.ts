import { Worker } from "node:worker_threads";
import type { AgentLine, LineAgent } from "@/solver/workflow/agentLine";
import { bundledWorker } from "./bundledWorker";

/** Between two starts of a thread that does not live. */
const againMs = 10_000;
/** Five thousand agents take half a second on an idle core. */
const limitMs = 30_000;

/** Places agents on their line in a thread of its own, which is started when it is first asked, and again where it ended. */
export class LineThread {
  #worker: Worker | null = null;
  #startedMs = Number.NEGATIVE_INFINITY;
  #closed = false;

  /** The line of these agents; null where no thread is to be had, or it ends over them. One at a time. Never rejects. */
  async place(agents: readonly LineAgent[]): Promise<AgentLine | null> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    if (worker === null) return null;
    return new Promise((resolve) => {
      const settle = (line: AgentLine | null): void => {
        clearTimeout(limit);
        worker.off("message", settle).off("exit", gone);
        resolve(line);
      };
      const gone = (): void => settle(null);
      const limit = setTimeout(() => void worker.terminate(), limitMs).unref();
      worker.on("message", settle).on("exit", gone);
      worker.postMessage(agents);
    });
  }

  close(): void {
    this.#closed = true;
    void this.#worker?.terminate();
  }

  #start(): Worker | null {
    const nowMs = performance.now();
    if (this.#closed || nowMs - this.#startedMs < againMs) return null;
    this.#startedMs = nowMs;
    try {
      const worker = new Worker(bundledWorker("lineWorker"), { resourceLimits: { maxOldGenerationSizeMb: 512 } });
      // It must not keep the process. What it fails with is told by its end.
      worker.unref();
      worker.on("error", () => undefined);
      worker.once("exit", () => {
        if (this.#worker === worker) this.#worker = null;
      });
      return worker;
    } catch {
      return null;
    }
  }
}
