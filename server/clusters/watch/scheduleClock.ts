import type { Schedule } from "@/server/contracts/studio/schedule";
import { localTime } from "@/server/lib/localTime";

/** The time at which a schedule puts a plan into force. */
export interface Switch {
  readonly atMs: number;
  readonly planId: string;
}

type Times = Pick<Schedule, "entries" | "timeZone">;

/**
 * The switches of the previous day, of this one and of the next, in order. On a day on which clocks are set back an entry occurs once, at
 * the first occurrence of its time; on a day on which its time is skipped, when clocks are set forward. Of two at one instant the later
 * time of day is the last.
 */
function switchesAround({ entries, timeZone }: Times, atMs: number): readonly Switch[] {
  const local = localTime(timeZone);
  if (local === null) return [];
  const today = local.dayOf(atMs);
  const inOrder = [...entries].sort((a, b) => a.at.localeCompare(b.at));
  return [today - 1, today, today + 1].flatMap((day) =>
    inOrder.map(({ at, planId }) => ({ atMs: local.instantOf(day, secondsOf(at)), planId })),
  );
}

/** The switch whose plan should be in force; null: the time zone does not exist. */
export const holdsAt = (times: Times, atMs: number): Switch | null =>
  switchesAround(times, atMs).findLast((one) => one.atMs <= atMs) ?? null;

/** The next switch after an instant; null: the time zone does not exist. */
export const nextAfter = (times: Times, atMs: number): Switch | null => switchesAround(times, atMs).find((one) => one.atMs > atMs) ?? null;

/** `07:30` in seconds after midnight. */
function secondsOf(timeOfDay: string): number {
  const [hours = 0, minutes = 0] = timeOfDay.split(":").map(Number);
  return hours * 3600 + minutes * 60;
}

/** The local time of an instant: `20:00 in Europe/Berlin`. */
export function shownIn(timeZone: string, atMs: number): string {
  const shown = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(atMs);
  return `${shown} in ${timeZone}`;
}
