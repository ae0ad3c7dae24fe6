import { on } from "node:events";
import { Worker } from "node:worker_threads";
import type { CalibrationReply, CalibrationTask } from "./calibrationRequest";
import { workerFile } from "./workerFile";

/** Tasks of a kind at once, further ones wait: a fit of minutes holds up no check, and no crowd of them holds up planning. */
const lanes = { check: createLane(3), fit: createLane(2) } as const;

/**
 * Does a task in a worker thread of its own and tells what it tells.
 *
 * @throws the signal's reason when it aborts, after which the worker is gone; whatever the worker threw.
 */
export async function* calibrate(task: CalibrationTask, signal: AbortSignal): AsyncGenerator<CalibrationReply, void> {
  const lane = lanes[task.kind];
  await lane.enter(signal);
  try {
    const worker = new Worker(workerFile("calibrationWorker"), { workerData: task });
    try {
      for await (const [reply] of on(worker, "message", { signal, close: ["exit"] })) yield reply as CalibrationReply;
    } finally {
      await worker.terminate();
    }
  } finally {
    lane.leave();
  }
}

/** Lets so many in at once, in order of their coming; who aborts while waiting leaves the queue at once. */
function createLane(most: number) {
  let free = most;
  const waiting: (() => void)[] = [];
  return {
    async enter(signal: AbortSignal): Promise<void> {
      signal.throwIfAborted();
      if (free > 0) {
        free--;
        return;
      }
      await new Promise<void>((resolve, reject) => {
        const begin = (): void => {
          signal.removeEventListener("abort", giveUp);
          resolve();
        };
        const giveUp = (): void => {
          waiting.splice(waiting.indexOf(begin), 1);
          reject(signal.reason);
        };
        waiting.push(begin);
        signal.addEventListener("abort", giveUp, { once: true });
      });
    },
    leave(): void {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    },
  };
}
