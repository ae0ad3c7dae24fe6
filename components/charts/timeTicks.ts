import type { TimeWindow } from "./chartSpec";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Steps between round clock times. */
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14].map((count) => count * DAY),
];

export interface TimeTick {
  readonly atMs: number;
  readonly text: string;
}

const two = (value: number): string => String(value).padStart(2, "0");
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function textOf(localMs: number, stepMs: number): string {
  const at = new Date(localMs);
  const isMidnight = localMs % DAY === 0;
  if (stepMs >= DAY || (isMidnight && stepMs >= HOUR)) return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`;
  const clock = `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`;
  return stepMs < MINUTE ? `${clock}:${two(at.getUTCSeconds())}` : clock;
}

/**
 * At most `count` round clock times in a window, in local time: on whole minutes, hours, midnights. `offsetMinutes` is what is added
 * to UTC for that; it is one for the whole window, so beyond a change of the clocks ticks lie off by the hour.
 */
export function timeTicks({ fromMs, toMs }: TimeWindow, count: number, offsetMinutes: number): readonly TimeTick[] {
  const stepMs = STEPS.find((step) => (toMs - fromMs) / step <= count) ?? 28 * DAY;
  const offsetMs = offsetMinutes * MINUTE;
  const ticks: TimeTick[] = [];
  for (let local = Math.ceil((fromMs + offsetMs) / stepMs) * stepMs; local <= toMs + offsetMs; local += stepMs) {
    ticks.push({ atMs: local - offsetMs, text: textOf(local, stepMs) });
  }
  return ticks.slice(0, count);
}
