import { on } from "node:events";
import { Worker } from "node:worker_threads";
import type { CalibrationReply, CalibrationTask } from "./calibrationRequest";
import { workerFile } from "./workerFile";

/** The calibration before the next: two at a time would only slow planning and each other. */
let before: Promise<unknown> = Promise.resolve();

/**
 * Does a task in a worker thread of its own and tells what it tells. Tasks wait for one another.
 *
 * @throws the signal's reason when it aborts, after which the worker is gone; whatever the worker threw.
 */
export async function* calibrate(task: CalibrationTask, signal: AbortSignal): AsyncGenerator<CalibrationReply, void> {
  const turn = before;
  let end: () => void = () => undefined;
  before = new Promise<void>((resolve) => {
    end = resolve;
  });
  await turn;
  try {
    signal.throwIfAborted();
    const worker = new Worker(workerFile("calibrationWorker"), { workerData: task });
    try {
      for await (const [reply] of on(worker, "message", { signal, close: ["exit"] })) yield reply as CalibrationReply;
    } finally {
      await worker.terminate();
    }
  } finally {
    end();
  }
}
