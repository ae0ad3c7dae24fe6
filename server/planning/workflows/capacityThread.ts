import type { Outcome } from "@/server/contracts/studio";
import type { CapacityCurve } from "@/server/contracts/studio/declaredWorkflows";
import { createTaskQueue } from "@/server/threads/taskQueue";
import type { CapacityTask } from "./capacityCurve";

/** From the thread: the curve, or why there is none, in a sentence. */
export type CapacityReply = Outcome<{ readonly curve: CapacityCurve }>;

/**
 * Makes a capacity curve in its own thread, after earlier requests; refused if too many are waiting.
 *
 * @throws the signal's reason if it aborts, which ends the thread at once; Error if the thread ends without an answer.
 */
export const inCapacityThread = createTaskQueue<CapacityTask, CapacityReply>({
  file: "capacityWorker",
  // Some thousand programs with their configurations take a few hundred MB.
  heapMb: 1024,
  mostLive: 10,
  makes: "capacity curves",
});
