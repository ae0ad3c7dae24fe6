import type { KeyLimit } from "@/solver/wording/keyLimits";

/** The window of the calendar in UTC that contains a time. Both are Unix milliseconds; the end is the start of the next window. */
export function calendarWindow(period: KeyLimit["period"], atMs: number): { readonly startMs: number; readonly endMs: number } {
  if (period === "month") {
    const at = new Date(atMs);
    const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
    return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
  }
  const lengthMs = lengthsMs[period];
  const startMs = Math.floor(atMs / lengthMs) * lengthMs;
  return { startMs, endMs: startMs + lengthMs };
}

/** UTC has no daylight saving, and Unix time has no leap seconds. */
const lengthsMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
