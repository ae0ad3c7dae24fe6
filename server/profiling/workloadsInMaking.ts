import type { Outcome } from "@/server/contracts/studio";
import type { MadeWorkloads, ScorerProgress, WorkloadTask } from "./workloadTask";
import { workloadsInThread } from "./workloadThread";

interface Making {
  readonly end: AbortController;
  progress: ScorerProgress | null;
}

/** The workloads that are being made of profiles, one order a profile at a time: their progress, and how to cancel them. */
export class WorkloadsInMaking {
  readonly #making = new Map<string, Making>();
  readonly #closing: AbortSignal;

  /** @param closing ends all of them. */
  constructor(closing: AbortSignal) {
    this.#closing = closing;
  }

  /** @throws the signal's reason if the studio ends; the thread's exception. */
  async make(task: WorkloadTask): Promise<MadeWorkloads> {
    const { jobId } = task;
    if (this.#making.has(jobId))
      return { ok: false, message: "A workload is being made of this profile: wait until it is there, or cancel it." };
    const making: Making = { end: new AbortController(), progress: null };
    this.#making.set(jobId, making);
    const signal = AbortSignal.any([this.#closing, making.end.signal]);
    const onSaid = (progress: ScorerProgress): void => {
      making.progress = progress;
    };
    try {
      return await workloadsInThread(task, { signal, onSaid });
    } catch (problem) {
      if (!making.end.signal.aborted || this.#closing.aborted) throw problem;
      return { ok: false, message: "Cancelled: no workload was made." };
    } finally {
      this.#making.delete(jobId);
    }
  }

  /** null: none is being made of the profile. */
  of(jobId: string): { readonly training: ScorerProgress | null } | null {
    const making = this.#making.get(jobId);
    return making === undefined ? null : { training: making.progress };
  }

  cancel(jobId: string): Outcome<object> {
    const making = this.#making.get(jobId);
    if (making === undefined) return { ok: false, message: "No workload is being made of this profile." };
    making.end.abort();
    return { ok: true };
  }
}
