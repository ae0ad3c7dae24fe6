import { TaskThreads } from "@/server/threads/taskThreads";
import type { Plan } from "@/solver/plan/plan";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { sealPlan } from "../planner/sealPlan";
import type { MixBeside, MixPhase, MixReply, MixTask, NoMixKind } from "./mixTask";

/** A sealed plan for a mix, or why there is none. */
export type MixAnswer =
  | { readonly ok: true; readonly plan: Plan & { readonly policy: JustInTimePolicy }; readonly beside: MixBeside | null }
  | { readonly ok: false; readonly kind: NoMixKind; readonly message: string };

interface MixOptions {
  readonly signal: AbortSignal;
  readonly onPhase?: (phase: MixPhase) => void;
}

// Some thousand programs with their configurations take a few hundred MB.
const threads = new TaskThreads<MixTask, MixReply, MixPhase>({ file: "mixWorker", heapMb: 1024, atOnce: 1 });

/**
 * Plans for a mix in its own thread, after earlier ones.
 *
 * @throws the signal's reason if it aborts, which ends the thread at once; Error if the thread ends without an answer.
 */
export async function planMixInThread(task: MixTask, { signal, onPhase = () => undefined }: MixOptions): Promise<MixAnswer> {
  const reply = await threads.run(task, { signal, onSaid: onPhase });
  return reply.ok ? { ok: true, plan: sealPlan(reply.draft, new Date()), beside: reply.beside } : reply;
}
