import type { AuditLine, ProfileJob } from "@/server/contracts/studio";
import type { StoredProfile } from "@/server/store/profileRepository";
import type { Store } from "@/server/store/store";

/** Before the disk is tried again. */
const RETRY_MS = 1_000;

/** Whoever does what nobody ordered. */
const studio = "studio";

export type JobState = ReturnType<typeof createJobState>;

/** Whether a job runs, and why not. It changes at once; where the disk cannot take it, it is written as soon as the disk can. */
export function createJobState({ id, request, state: begun, pause: why }: StoredProfile, store: Pick<Store, "profiles" | "audit">) {
  let [state, pause] = [begun, why];
  let isKept = true;
  let lines: AuditLine[] = [];
  let timer: NodeJS.Timeout | undefined;
  const isEnded = (): boolean => state === "done" || state === "stopped";

  function keep(): void {
    clearTimeout(timer);
    if (isKept) return;
    try {
      // Before the state: a job that is over is not looked at again.
      if (isEnded() && !request.keepAnswers) store.profiles.dropAnswers(id);
      store.profiles.setState(id, state, pause);
      for (let [line] = lines; line !== undefined; [line] = lines) {
        store.audit.add(line);
        lines = lines.slice(1);
      }
      isKept = true;
    } catch {
      timer = setTimeout(keep, RETRY_MS);
    }
  }

  return {
    get state() {
      return state;
    },
    get pause() {
      return pause;
    },
    get isRunning(): boolean {
      return state === "running";
    },
    /** It has ended, and that is on disk. */
    get isOver(): boolean {
      return isEnded() && isKept;
    },
    /** @param act what the studio did by itself, for the audit log; null: somebody ordered it, who is noted elsewhere. */
    change(
      to: ProfileJob["state"],
      reason: ProfileJob["pause"],
      act: { readonly action: string; readonly detail: string } | null = null,
    ): void {
      [state, pause, isKept] = [to, reason, false];
      if (act !== null) lines = [...lines, { at: new Date().toISOString(), actor: studio, subject: request.name, ...act }];
      keep();
    },
    /** Tries once more, and no further. */
    close(): void {
      keep();
      clearTimeout(timer);
    },
  };
}
