import type { Application, ApplyStep, JournalLine } from "@/server/contracts/studio";
import type { Tone } from "../ui/Badge";
import { formatAge } from "../ui/format";

/** A step of a roll-out as the checklist shows it. */
export interface ShownStep {
  readonly id: string;
  readonly number: number;
  readonly word: string;
  readonly tone: Tone;
  readonly text: string;
  /** Its current action or what it waits for, what was found, or why it failed; empty: nothing to show. */
  readonly detail: string;
  /** Empty: it has not begun. */
  readonly took: string;
  readonly journal: readonly ShownJournalLine[];
  /** Engine whose log shows its start; null: there is none. */
  readonly logOf: string | null;
}

export interface ShownJournalLine {
  readonly key: string;
  readonly at: string;
  readonly word: string;
  readonly tone: Tone;
  readonly detail: string;
  /** The step that it belongs to; empty: the application as a whole. */
  readonly step: string;
}

const events: Readonly<Record<JournalLine["event"], { readonly word: string; readonly tone: Tone }>> = {
  intended: { word: "intended", tone: "accent" },
  done: { word: "done", tone: "good" },
  verified: { word: "verified", tone: "good" },
  failed: { word: "failed", tone: "bad" },
  cut: { word: "interrupted", tone: "warn" },
  said: { word: "note", tone: "neutral" },
};

const states: Readonly<Record<ApplyStep["state"], { readonly word: string; readonly tone: Tone }>> = {
  waiting: { word: "waiting", tone: "neutral" },
  running: { word: "running", tone: "accent" },
  done: { word: "done", tone: "good" },
  failed: { word: "failed", tone: "bad" },
  skipped: { word: "skipped", tone: "neutral" },
};

/** Steps with their journal: whether the effect of each was verified, and whether it was interrupted. */
export function prepareSteps(steps: readonly ApplyStep[], journal: readonly JournalLine[], nowMs: number | null): readonly ShownStep[] {
  return steps.map((step, index) => {
    const lines = journal.filter(({ stepId }) => stepId === step.id);
    const last = lines.findLast(({ event }) => event !== "said")?.event;
    return {
      id: step.id,
      number: index + 1,
      ...wordOf(step, last),
      text: step.text,
      detail: step.state === "running" && step.detail !== "" ? `Now: ${step.detail}` : step.detail,
      took: tookText(step, nowMs),
      journal: prepareJournal(lines, []),
      logOf: (step.kind === "start" || step.kind === "verify") && step.startedAt !== null ? step.engineId : null,
    };
  });
}

function wordOf(step: ApplyStep, last: JournalLine["event"] | undefined): Pick<ShownStep, "word" | "tone"> {
  // That a started engine is listed was checked; whether it serves is checked by a separate step.
  if (step.state === "done" && last === "verified") return { word: step.kind === "start" ? "started, loading" : "verified", tone: "good" };
  if (step.state === "skipped" && last === "cut") return { word: "interrupted", tone: "warn" };
  return states[step.state];
}

function tookText({ startedAt, endedAt }: ApplyStep, nowMs: number | null): string {
  if (startedAt === null) return "";
  const endMs = endedAt === null ? nowMs : Date.parse(endedAt);
  if (endMs === null) return "";
  const seconds = Math.max(0, (endMs - Date.parse(startedAt)) / 1000);
  return seconds < 1.5 ? `${seconds.toFixed(1)} s` : formatAge(seconds);
}

/** Journal lines in their order; `steps` number those that are of a step. */
export function prepareJournal(journal: readonly JournalLine[], steps: readonly ApplyStep[]): readonly ShownJournalLine[] {
  return journal.map(({ at, stepId, event, detail }, index) => {
    const number = steps.findIndex(({ id }) => id === stepId) + 1;
    return {
      key: `${index} ${at}`,
      ...{ at, detail, ...events[event] },
      step: stepId === null || steps.length === 0 ? "" : number === 0 ? "an earlier step" : `step ${number}`,
    };
  });
}

/** Progress: `4 of 7 steps done, 3 skipped`. An application cancelled during its grace period changed nothing. */
export function progressOf({ state, steps }: Pick<Application, "state" | "steps">): string {
  if (state === "aborted") return "cancelled before anything was changed";
  const count = (word: ApplyStep["state"]): number => steps.filter((step) => step.state === word).length;
  return `${count("done")} of ${steps.length} steps done${count("skipped") > 0 ? `, ${count("skipped")} skipped` : ""}`;
}

/**
 * The studio's statements about the application as a whole: that it was restarted and what it resumed, why it was undone. Oldest first,
 * without those shown above it already: the final error and the reason of its halt.
 */
export function notesOf(journal: readonly JournalLine[], { error, halt }: Pick<Application, "error" | "halt">): readonly JournalLine[] {
  const told = [error ?? "", halt?.sentence ?? ""].filter((sentence) => sentence !== "");
  return journal.filter(
    ({ stepId, event, detail }) => stepId === null && event === "said" && !told.some((sentence) => detail.includes(sentence)),
  );
}
