import { Worker } from "node:worker_threads";
import type { CapacityCurve } from "@/server/contracts/declaredWorkflows";
import type { Outcome } from "@/server/contracts/studio";
import type { CapacityTask } from "./capacityCurve";
import { createLane } from "./lane";
import { workerFile } from "./workerFile";

/** From the thread: what came of it, or that it failed, in a sentence. */
export type CapacityReply = Outcome<{ readonly curve: CapacityCurve }>;

/** Some thousand programs with their configurations take a few hundred MB. */
const heapMb = { maxOldGenerationSizeMb: 1024 };

/** Curves that are made or wait for their turn, at most: each keeps its workload in memory. */
const mostLive = 10;

/** One at a time: each may take as much memory as a whole plan. */
const lane = createLane(1);
let live = 0;

/**
 * Makes a capacity curve in a thread of its own, after those that were asked for before; refused where too many are.
 *
 * @throws the signal's reason when it aborts, the thread ending at once; Error where the thread ends without an answer.
 */
export async function inCapacityThread(task: CapacityTask, signal: AbortSignal): Promise<CapacityReply> {
  if (live >= mostLive)
    return { ok: false, message: `${live} capacity curves are made or wait for their turn: ask again when one is there.` };
  live += 1;
  try {
    await lane.enter(signal);
    return await thread(task, signal).finally(() => lane.leave());
  } finally {
    live -= 1;
  }
}

async function thread(task: CapacityTask, signal: AbortSignal): Promise<CapacityReply> {
  signal.throwIfAborted();
  const worker = new Worker(workerFile("capacityWorker"), { workerData: task, resourceLimits: heapMb });
  const ended = new Promise<CapacityReply>((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    worker.on("message", resolve);
    worker.on("error", reject);
    worker.on("exit", (code) => reject(new Error(`The thread that simulates capacity ended unexpectedly with code ${code}.`)));
  });
  return ended.finally(() => worker.terminate());
}
