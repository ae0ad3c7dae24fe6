import type { Outcome } from "@/server/contracts/studio";
import type { CapacityCurve } from "@/server/contracts/studio/declaredWorkflows";
import { createTaskQueue } from "@/server/threads/taskQueue";
import type { CapacityTask } from "./capacityCurve";

/** From the thread: what came of it, or that it failed, in a sentence. */
export type CapacityReply = Outcome<{ readonly curve: CapacityCurve }>;

/**
 * Makes a capacity curve in a thread of its own, after those that were asked for before; refused where too many are.
 *
 * @throws the signal's reason when it aborts, the thread ending at once; Error where the thread ends without an answer.
 */
export const inCapacityThread = createTaskQueue<CapacityTask, CapacityReply>({
  file: "capacityWorker",
  // Some thousand programs with their configurations take a few hundred MB.
  heapMb: 1024,
  mostLive: 10,
  makes: "capacity curves",
});
