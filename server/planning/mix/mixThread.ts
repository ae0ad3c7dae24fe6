import type { MixPlanAnswer } from "@/server/contracts/studio";
import { TaskThreads } from "@/server/threads/taskThreads";
import { sealPlan } from "../planner/sealPlan";
import type { MixPhase, MixReply, MixTask } from "./mixTask";

interface MixOptions {
  readonly signal: AbortSignal;
  readonly onPhase?: (phase: MixPhase) => void;
}

// Some thousand programs with their configurations take a few hundred MB.
const threads = new TaskThreads<MixTask, MixReply, MixPhase>({ file: "mixWorker", heapMb: 1024, atOnce: 1 });

/**
 * Plans for a mix in its own thread, after earlier ones, and seals the plan.
 *
 * @throws the signal's reason if it aborts, which ends the thread at once; Error if the thread ends without an answer.
 */
export async function planMixInThread(task: MixTask, { signal, onPhase = () => undefined }: MixOptions): Promise<MixPlanAnswer> {
  const reply = await threads.run(task, { signal, onSaid: onPhase });
  return reply.ok ? { ok: true, plan: sealPlan(reply.draft, new Date()), beside: reply.beside } : reply;
}
