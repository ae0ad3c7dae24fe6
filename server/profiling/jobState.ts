import type { AuditLine } from "@/server/contracts/studio";

/** Before the disk is tried again. */
const RETRY_MS = 1_000;

/** Whoever does what nobody ordered. */
const studio = "studio";

type State = "running" | "paused" | "done" | "stopped";

export interface JobStateParts<Pause> {
  readonly state: State;
  readonly pause: Pause | null;
  /** As the audit log names the job. */
  readonly subject: string;
  /** Puts down how it stands; tried again where it throws. */
  readonly write: (state: State, pause: Pause | null) => void;
  readonly audit: { add(line: AuditLine): void };
}

export type JobState<Pause> = ReturnType<typeof createJobState<Pause>>;

/** Whether a job runs, and why not. It changes at once; where the disk cannot take it, it is written as soon as the disk can. */
export function createJobState<Pause>({ state: begun, pause: why, subject, write, audit }: JobStateParts<Pause>) {
  let state = begun;
  let pause = why;
  let isKept = true;
  let lines: AuditLine[] = [];
  let timer: NodeJS.Timeout | undefined;
  const isEnded = (): boolean => state === "done" || state === "stopped";

  function keep(): void {
    clearTimeout(timer);
    if (isKept) return;
    try {
      write(state, pause);
      for (let [line] = lines; line !== undefined; [line] = lines) {
        audit.add(line);
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
    change(to: State, reason: Pause | null, act: { readonly action: string; readonly detail: string } | null = null): void {
      [state, pause, isKept] = [to, reason, false];
      if (act !== null) lines = [...lines, { at: new Date().toISOString(), actor: studio, subject, ...act }];
      keep();
    },
    /** Tries once more, and no further. */
    close(): void {
      keep();
      clearTimeout(timer);
    },
  };
}
