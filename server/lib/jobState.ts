import { setMaxListeners } from "node:events";
import type { AuditLine } from "@/server/contracts/studio";

/** Before the disk is tried again. */
const RETRY_MS = 1_000;

/** The actor of automatic actions. */
const studio = "studio";

type State = "running" | "paused" | "done" | "stopped";

interface Pause<Kind> {
  readonly kind: Kind;
  readonly reason: string;
  readonly since: string;
}

interface JobStateParts<Kind> {
  readonly state: State;
  readonly pause: Pause<Kind> | null;
  readonly noun: "profile" | "batch";
  /** As the audit log names the job. */
  readonly subject: string;
  /** Writes its state; retried if it throws. */
  readonly write: (state: State, pause: Pause<Kind> | null) => void;
  readonly audit: { add(line: AuditLine): void };
  /** It was paused. */
  readonly paused: () => void;
}

/** The displayed state of a job. */
interface JobStatus<Kind> {
  readonly state: State;
  readonly pausedFor: Pause<Kind> | null;
  /** It has ended, and that is on disk. */
  readonly isOver: boolean;
}

export type JobState<Kind extends string> = ReturnType<typeof createJobState<Kind>>;

/** Whether a job runs, and why not. It changes at once; where the disk cannot take it, it is written as soon as the disk can. */
export function createJobState<Kind extends string>(parts: JobStateParts<Kind | "operator" | "problem">) {
  const { noun, subject, write, audit } = parts;
  type Why = Pause<Kind | "operator" | "problem">;
  let { state, pause: why } = parts;
  let isKept = true;
  let lines: AuditLine[] = [];
  let timer: NodeJS.Timeout | undefined;
  const ending = new AbortController();
  // Every call under way listens.
  setMaxListeners(0, ending.signal);
  const isEnded = (): boolean => state === "done" || state === "stopped";
  const canBegin = (): boolean => state === "running" && !ending.signal.aborted;

  function keep(): void {
    clearTimeout(timer);
    if (isKept) return;
    try {
      write(state, why);
      for (let [line] = lines; line !== undefined; [line] = lines) {
        audit.add(line);
        lines = lines.slice(1);
      }
      isKept = true;
    } catch {
      timer = setTimeout(keep, RETRY_MS);
    }
  }

  /** @param act what the studio did by itself, for the audit log; null: a user's order, which is noted elsewhere. */
  function change(to: State, reason: Why | null, act: { readonly action: string; readonly detail: string } | null = null): void {
    [state, why, isKept] = [to, reason, false];
    if (act !== null) lines = [...lines, { at: new Date().toISOString(), actor: studio, subject, objectKind: noun, ...act }];
    keep();
  }

  /** Does nothing where it does not run. */
  function pause(kind: Why["kind"], reason: string): void {
    if (!canBegin()) return;
    const act = kind === "operator" ? null : { action: `pause ${noun}`, detail: reason };
    change("paused", { kind, reason, since: new Date().toISOString() }, act);
    parts.paused();
  }

  const status: JobStatus<Why["kind"]> = {
    get state() {
      return state;
    },
    get pausedFor() {
      return why;
    },
    get isOver() {
      return isEnded() && isKept;
    },
  };

  return {
    status,
    /** Fires when everything in flight must end. */
    signal: ending.signal,
    canBegin,
    pause,
    /** Pauses it for what could not be done, most likely for the disk. */
    failed: (error: unknown): void => pause("problem", pauseReason(error, noun)),
    resume: (): void => change("running", null),
    done: (detail: string): void => change("done", null, { action: `end ${noun}`, detail }),
    stop: (): void => change("stopped", null),
    /** Cuts what is under way. */
    abort: (): void => ending.abort(),
    /** Tries to write once more, and then stops. */
    close(): void {
      keep();
      clearTimeout(timer);
    },
  };
}

/** A run's members with the state of its job, read again each time. */
export const withStatus = <Members extends object, Kind>(members: Members, status: JobStatus<Kind>): Members & JobStatus<Kind> =>
  Object.defineProperties(members, Object.getOwnPropertyDescriptors(status)) as Members & JobStatus<Kind>;

/** Codes of a disk that takes nothing more. */
const DISK_CODES = /^(SQLITE_(FULL|IOERR|CANTOPEN|READONLY)|ENOSPC|EDQUOT)/;

/** Why a job cannot go on, in sentences with the way out. Of an error nothing but its name: what it says may be of a prompt. */
export function pauseReason(error: unknown, noun: "profile" | "batch"): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  const known = String(code ?? name ?? "unknown");
  const wayOut = DISK_CODES.test(known)
    ? "Its disk may be full: resume when it can write again."
    : `Resume to try again, or stop the ${noun}.`;
  return `The studio stopped (${known}). ${wayOut}`;
}
