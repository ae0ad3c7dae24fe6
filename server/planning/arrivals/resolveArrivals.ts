import type { Outcome, ReplaceArrivals, Segment } from "@/server/contracts/studio";
import { segmentArrivals } from "@/solver/workload/segmentArrivals";
import { type ArrivalsGround, findArrivals, hourly, zoned } from "./findArrivals";
import { type FoundArrivals, tooFew } from "./foundArrivals";

export type ArrivalsOrder = Pick<ReplaceArrivals, "arrivals" | "segments" | "timeZone">;

/** Arrivals of one workload, in the form for `buildWorkload`. */
export interface ArrivalsPart {
  /** Name of the segment; null: all arrivals. */
  readonly segment: string | null;
  /** Seconds since the first arrival, ascending; at least two, and not all at once. */
  readonly arrivalSeconds: Float64Array;
  /** Their source, in words. */
  readonly origin: string;
  /** Mean rate in each hour of the day, null in an hour without data; absent without a clock, and for a segment. */
  readonly byHour?: readonly (number | null)[];
}

export type ResolvedArrivals = Outcome<{ readonly parts: readonly ArrivalsPart[] }>;

/**
 * Finds the chosen arrivals: one part with all of them or, if segments are given, one for each segment in their order. An upload is not
 * removed: the caller that stores the result removes it.
 *
 * @returns parts, or one sentence with the problem and the remedy.
 */
export async function resolveArrivals({ arrivals, segments, timeZone }: ArrivalsOrder, ground: ArrivalsGround): Promise<ResolvedArrivals> {
  const answer = await findArrivals(arrivals, ground);
  if (!answer.ok) return answer;
  const { found } = answer;
  const clock = zoned(found, timeZone);
  if (segments.length === 0) {
    const { arrivalSeconds } = segmentArrivals(found.arrivalSeconds, found.known);
    const byHour = clock.ok ? { byHour: hourly(found, clock.within) } : {};
    return { ok: true, parts: [{ segment: null, arrivalSeconds, origin: found.origin, ...byHour }] };
  }
  if (!clock.ok) return clock;
  const parts: ArrivalsPart[] = [];
  for (const segment of segments) {
    const { arrivalSeconds } = segmentArrivals(found.arrivalSeconds, clock.within(segment));
    const problem = tooFew(arrivalSeconds, `in the segment "${segment.name}"`);
    if (problem !== null) return { ok: false, message: problem };
    parts.push({ segment: segment.name, arrivalSeconds, origin: segmentOrigin(found, segment, clock.zoneName) });
  }
  return { ok: true, parts };
}

const segmentOrigin = ({ origin }: FoundArrivals, { name, fromHour, toHour }: Segment, zone: string): string =>
  `${origin}; of them the segment ${name}, ${hourText(fromHour)} to ${hourText(toHour)} ${zone}, laid end to end without the time between`;

/** `7.5` is `07:30`. */
const hourText = (hour: number): string => {
  const minutes = Math.round(hour * 60);
  return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0")).join(":");
};
