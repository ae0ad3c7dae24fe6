import { Worker } from "node:worker_threads";
import { workerFile } from "@/server/planning/workerFile";
import type { LabCellKey, LabThreadReply, LabThreadStart } from "./labTask";

/** A run of 100,000 programs and twelve models takes some hundred MB a thread. */
const heapMb = { maxOldGenerationSizeMb: 2048 };

interface Turn<Result> {
  /** null at the start. */
  readonly replied: LabThreadReply | null;
  readonly ask: (key: LabCellKey) => void;
  readonly finish: (result: Result) => void;
}

/**
 * Starts a thread of the lab and takes turns with it until one finishes; then it ends.
 *
 * @throws the signal's reason when it aborts, the thread ending at once; Error with the sentence of what fails.
 */
export function inThread<Result>(start: LabThreadStart, signal: AbortSignal, turn: (turn: Turn<Result>) => void): Promise<Result> {
  signal.throwIfAborted();
  const worker = new Worker(workerFile("labWorker"), { workerData: start, resourceLimits: heapMb });
  let abort = (): void => undefined;
  const ended = new Promise<Result>((resolve, reject) => {
    const take = (replied: LabThreadReply | null): void => {
      if (replied?.kind === "failed") reject(new Error(replied.message));
      else turn({ replied, ask: (key) => worker.postMessage(key), finish: resolve });
    };
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    worker.on("message", take);
    worker.on("error", (problem) => reject(new Error(`A thread of the lab ended unexpectedly: ${problem.message}.`)));
    worker.on("exit", (code) => reject(new Error(`A thread of the lab ended unexpectedly with code ${code}.`)));
    take(null);
  });
  return ended.finally(() => {
    signal.removeEventListener("abort", abort);
    return worker.terminate();
  });
}
