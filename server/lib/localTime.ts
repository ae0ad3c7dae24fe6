const DAY_SECONDS = 86_400;
const DAY_MS = 1000 * DAY_SECONDS;

/** The clock on the wall of a time zone, with the days on which it is set forward and back. */
export interface LocalTime {
  /** Days since 1 January 1970 on the calendar there. */
  dayOf(atMs: number): number;
  /**
   * When the clock there shows so many seconds after midnight of that day for the first time. Where it is set forward over that time, when
   * it is set: the first instant by which that time has come. More seconds than a day has go on into the next.
   */
  instantOf(day: number, seconds: number): number;
}

/** The clock of an IANA time zone; null: there is no zone of that name. */
export function localTime(timeZone: string): LocalTime | null {
  const format = formatOf(timeZone);
  if (format === null) return null;

  /** By how much the clock there is ahead of UTC. */
  function offsetMs(atMs: number): number {
    const part = new Map(format?.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const of = (type: Intl.DateTimeFormatPartTypes): number => part.get(type) ?? 0;
    const shown = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
    return shown - Math.floor(atMs / 1000) * 1000;
  }

  /** The instant between two at which the offset becomes that of the second. */
  function changeBetween(fromMs: number, toMs: number): number {
    const after = offsetMs(toMs);
    let [low, high] = [fromMs, toMs];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (offsetMs(middle) === after) high = middle;
      else low = middle;
    }
    return high;
  }

  return {
    dayOf: (atMs) => Math.floor((atMs + offsetMs(atMs)) / DAY_MS),
    instantOf(day, seconds) {
      const shownMs = (day * DAY_SECONDS + seconds) * 1000;
      // No clock is a day away from UTC, and none is set twice within two days.
      const candidates = [offsetMs(shownMs - DAY_MS), offsetMs(shownMs + DAY_MS)].map((offset) => shownMs - offset);
      const shows = candidates.filter((atMs) => atMs + offsetMs(atMs) === shownMs);
      const [before = shownMs, after = shownMs] = candidates;
      return shows.length > 0 ? Math.min(...shows) : changeBetween(after, before);
    },
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat | null {
  const numeric = "numeric";
  const fields = { year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric, second: numeric } as const;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone, hourCycle: "h23", calendar: "gregory", numberingSystem: "latn", ...fields });
  } catch {
    return null;
  }
}

/** What to say of a name that is no time zone's. */
export const unknownZone = (timeZone: string): string => `There is no time zone ${timeZone}: give a name like Europe/Berlin or UTC.`;

/** One part of each day between two instants, in order, each from hour to hour of that clock; over midnight where it ends earlier than it begins. */
export function daily(
  { fromHour, toHour }: { readonly fromHour: number; readonly toHour: number },
  span: { readonly fromMs: number; readonly toMs: number },
  local: LocalTime,
): readonly { readonly fromMs: number; readonly toMs: number }[] {
  const first = local.dayOf(span.fromMs) - 1;
  const days = local.dayOf(span.toMs) - first + 1;
  return Array.from({ length: days }, (_, at) => first + at)
    .map((day) => ({
      fromMs: Math.max(span.fromMs, local.instantOf(day, fromHour * 3600)),
      toMs: Math.min(span.toMs, local.instantOf(toHour > fromHour ? day : day + 1, toHour * 3600)),
    }))
    .filter(({ fromMs, toMs }) => fromMs < toMs);
}
