import { on } from "node:events";
import { Worker } from "node:worker_threads";
import type { CalibrationReply, CalibrationTask } from "./calibrationRequest";
import { createLane } from "./lane";
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
