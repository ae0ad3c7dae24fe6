import { TaskThreads } from "../threads/taskThreads";
import type { CalibrationAnswer, CalibrationReply, CalibrationTask, Predicted } from "./calibrationRequest";

const threadsOf = (atOnce: number) => new TaskThreads<CalibrationTask, CalibrationAnswer, Predicted>({ file: "calibrationWorker", atOnce });

/** Tasks of a kind at once, further ones wait: a fit of minutes holds up no check, and no crowd of them holds up planning. */
const threads = { check: threadsOf(3), fit: threadsOf(2), measured: threadsOf(1) } as const;

/**
 * Runs a task in its own worker thread and streams its progress, then its answer.
 *
 * @throws the signal's reason if it aborts, after which the worker has ended; the worker's exception.
 */
export function calibrate(task: CalibrationTask, signal: AbortSignal): AsyncGenerator<CalibrationReply, void> {
  return threads[task.kind].stream(task, signal);
}
