import type { PlanSummary, Schedule } from "@/server/contracts/studio";
import { formatCounted, formatScore, formatSeconds } from "../ui/format";

export type Entry = Schedule["entries"][number];

/** A schedule as edited. */
export interface Draft {
  readonly timeZone: string;
  readonly entries: readonly Entry[];
}

/** In the order of the day. */
export const inOrder = (entries: readonly Entry[]): readonly Entry[] => [...entries].sort((a, b) => a.at.localeCompare(b.at));

/** The default draft: the displayed plan by day and another by night, where there are two. */
export function firstDraft(timeZone: string, plans: readonly { readonly id: string }[], planId: string): Draft {
  const chosen = plans.some(({ id }) => id === planId) ? planId : (plans[0]?.id ?? "");
  const other = plans.find(({ id }) => id !== chosen)?.id ?? "";
  return {
    timeZone,
    entries: [
      { at: "08:00", planId: chosen },
      { at: "20:00", planId: other },
    ],
  };
}

/** Why a draft cannot be saved, in a sentence; null: no obstacle known here. */
export function draftProblem({ entries, timeZone }: Draft): string | null {
  if (entries.length < 2) return "Give at least two times: one plan needs no schedule.";
  if (entries.some(({ at }) => at === "")) return "Give each entry a time of day.";
  const times = entries.map(({ at }) => at);
  const twice = times.find((at, place) => times.indexOf(at) !== place);
  if (twice !== undefined) return `${twice} is given twice: give each time of day once.`;
  if (entries.some(({ planId }) => planId === "")) return "Choose an approved plan for each time.";
  return timeZone.trim() === "" ? "Give a time zone." : null;
}

/** The next time for another entry: an hour after the last. */
export function nextTime(entries: readonly Entry[]): string {
  const hours = entries.map(({ at }) => Number(at.slice(0, 2))).filter((hour) => !Number.isNaN(hour));
  const taken = new Set(entries.map(({ at }) => at));
  const first = Math.max(-1, ...hours) + 1;
  const free = Array.from({ length: 24 }, (_, after) => `${String((first + after) % 24).padStart(2, "0")}:00`);
  return free.find((at) => !taken.has(at)) ?? "00:30";
}

/** How long until something, in the two largest units: `3 h 12 min`, `45 s`. */
export function untilWords(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Day and time of an instant on the clock of a zone: `Fri 20:00`. */
export function shownThere(at: string, timeZone: string): string {
  const parts = { timeZone, weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  return new Intl.DateTimeFormat("en-GB", parts).format(new Date(at)).replace(",", "");
}

/** A plan's predictions, which distinguish plans. */
export const promisesText = ({ quality, p95Seconds, gpus }: Pick<PlanSummary, "quality" | "p95Seconds" | "gpus">): string =>
  `${quality === null ? "not predicted" : `quality ${formatScore(quality)}, p95 ${formatSeconds(p95Seconds)}`}, ${formatCounted(gpus, "GPU")}`;
