import type { Schedule } from "@/server/contracts/studio/schedule";
import { localTime } from "@/server/lib/localTime";

/** A time at which a schedule wants a plan to come into force. */
export interface Switch {
  readonly atMs: number;
  readonly planId: string;
}

type Times = Pick<Schedule, "entries" | "timeZone">;

/**
 * The switches of the day before, of this one and of the next, in order. On a day on which clocks are set back an entry comes once, when
 * its time is shown first; on one on which its time is left out, when they are set forward. Of two at one instant the later time of day is the last.
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

/** The switch whose plan should be in force; null: there is no such time zone. */
export const holdsAt = (times: Times, atMs: number): Switch | null =>
  switchesAround(times, atMs).findLast((one) => one.atMs <= atMs) ?? null;

/** The next switch after an instant; null: there is no such time zone. */
export const nextAfter = (times: Times, atMs: number): Switch | null => switchesAround(times, atMs).find((one) => one.atMs > atMs) ?? null;

/** `07:30` in seconds after midnight. */
function secondsOf(timeOfDay: string): number {
  const [hours = 0, minutes = 0] = timeOfDay.split(":").map(Number);
  return hours * 3600 + minutes * 60;
}

/** How the clock of a time zone shows an instant: `20:00 in Europe/Berlin`. */
export function shownIn(timeZone: string, atMs: number): string {
  const shown = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(atMs);
  return `${shown} in ${timeZone}`;
}
