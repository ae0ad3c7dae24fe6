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
 * At most `count` round clock times in a window, in local time: on whole minutes, hours, midnights. `offsetAt` gives the minutes that are
 * added to UTC for that at an instant. Where the clocks change within the window, each side has its own times.
 */
export function timeTicks(window: TimeWindow, count: number, offsetAt: (atMs: number) => number): readonly TimeTick[] {
  const spanMs = window.toMs - window.fromMs;
  const stepMs = STEPS.find((step) => spanMs / step <= count) ?? Math.ceil(spanMs / count / (28 * DAY)) * 28 * DAY;
  const ticks: TimeTick[] = [];
  for (const { fromMs, toMs } of evenStretches(window, offsetAt)) {
    const offsetMs = offsetAt(fromMs) * MINUTE;
    let local = Math.ceil((fromMs + offsetMs) / stepMs) * stepMs;
    for (; local <= toMs + offsetMs && ticks.length < count; local += stepMs) {
      ticks.push({ atMs: local - offsetMs, text: textOf(local, stepMs) });
    }
  }
  return ticks;
}

/**
 * The whole window, or its parts before and after a clock change. Two changes that undo each other are rarely in one window and are not
 * detected.
 */
function evenStretches({ fromMs, toMs }: TimeWindow, offsetAt: (atMs: number) => number): readonly TimeWindow[] {
  const before = offsetAt(fromMs);
  if (offsetAt(toMs) === before) return [{ fromMs, toMs }];
  let [low, high] = [fromMs, toMs];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle) === before) low = middle;
    else high = middle;
  }
  return [
    { fromMs, toMs: low },
    { fromMs: high, toMs },
  ];
}
