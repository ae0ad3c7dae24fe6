import type { ArrivalsChoice, ArrivalsPreview, Segment } from "@/server/contracts/studio";

/** Which arrivals, cut into which parts of the day of which time zone: what `workloads.replaceArrivals` and `profiles.toWorkload` take. */
export interface ChosenArrivals {
  readonly arrivals: ArrivalsChoice;
  readonly segments: readonly Segment[];
  readonly timeZone: string;
}

export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Bursty arrivals of the whole day, hours counted as the browser does. */
export const startingArrivals = (): ChosenArrivals => ({ arrivals: { kind: "generated" }, segments: [], timeZone: browserZone() });

/** Kinds of arrivals whose hours are known. */
export const hasClock = (kind: ArrivalsChoice["kind"]): boolean => kind !== "generated" && kind !== "workload";

export const MOST_RATE = 100_000;

/**
 * 24 rates in a text, separated by lines, tabs, spaces, semicolons or commas; null: the text is not 24 rates. A comma is decimal where it
 * separates nothing.
 */
export function parseHours(text: string): readonly number[] | null {
  const read = (parts: readonly string[]): readonly number[] | null => {
    const rates = parts.filter((part) => part !== "").map((part) => Number(part.replace(",", ".")));
    return rates.length === 24 && rates.every((rate) => rate >= 0 && rate <= MOST_RATE) ? rates : null;
  };
  return read(text.split(/[\s;]+/)) ?? read(text.split(/[\s;,]+/));
}

/** `7.5` is `07:30`, as a time field has it; the end of the day is its beginning there. */
export function timeOfHour(hour: number): string {
  const minutes = Math.round(hour * 60) % 1440;
  return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0")).join(":");
}

/** `7:30` or `07:30` is 7.5; null: it is no time of a day. */
export function hourOfTime(time: string): number | null {
  const match = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(time.trim());
  return match === null ? null : Number(match[1]) + Number(match[2]) / 60;
}

export const dayAndNight: readonly Segment[] = [
  { name: "day", fromHour: 8, toHour: 20 },
  { name: "night", fromHour: 20, toHour: 8 },
];

/** The next segment of a list: it starts where the last one ends and lasts, if possible, until the first begins. */
export function nextSegment(segments: readonly Segment[]): Segment {
  const fromHour = (segments.at(-1)?.toHour ?? 0) % 24;
  const first = (segments[0]?.fromHour ?? 8) % 24;
  return { name: `part ${segments.length + 1}`, fromHour, toHour: first === fromHour ? (fromHour + 1) % 24 : first };
}

/** Why the arrivals cannot be used; null: they can. */
export function previewProblem({ segments }: ArrivalsPreview): string | null {
  const few = segments.find(({ arrivals }) => arrivals < 2);
  if (few === undefined) return null;
  return `There ${few.arrivals === 1 ? "is one arrival" : "are no arrivals"} in the segment “${few.name}”: a workload needs at least 2.`;
}
