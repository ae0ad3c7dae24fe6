import type { ArrivalsPreview, Histogram, Outcome } from "@/server/contracts/studio";
import { segmentArrivals } from "@/solver/workload/segmentArrivals";
import { type ArrivalsGround, findArrivals, hourly, zoned } from "./findArrivals";
import type { ArrivalsOrder } from "./resolveArrivals";

type Previewed = Outcome<{ readonly preview: ArrivalsPreview }>;

const BARS = 60;

/** A summary of chosen arrivals, before anything is made from them. A segment with too few of them has only a count. */
export async function previewArrivals({ arrivals, segments, timeZone }: ArrivalsOrder, ground: ArrivalsGround): Promise<Previewed> {
  const answer = await findArrivals(arrivals, ground);
  if (!answer.ok) return answer;
  const { found } = answer;
  const clock = zoned(found, timeZone);
  if (!clock.ok && (segments.length > 0 || found.clock !== null)) return clock;
  const all = segmentArrivals(found.arrivalSeconds, found.known);
  return {
    ok: true,
    preview: {
      arrivals: all.arrivalSeconds.length,
      origin: found.origin,
      requestsPerSecond: all.arrivalSeconds.length / all.seconds,
      histogram: histogram(all.arrivalSeconds),
      byHour: clock.ok ? hourly(found, clock.within) : null,
      segments: !clock.ok
        ? []
        : segments.map((segment) => {
            const { arrivalSeconds, seconds } = segmentArrivals(found.arrivalSeconds, clock.within(segment));
            const requestsPerSecond = seconds > 0 ? arrivalSeconds.length / seconds : 0;
            return { name: segment.name, arrivals: arrivalSeconds.length, requestsPerSecond };
          }),
    },
  };
}

/** Counts in bins of equal width. */
function histogram(ascending: Float64Array): Histogram {
  const last = ascending.at(-1) ?? 0;
  const counts = new Array<number>(BARS).fill(0);
  for (const seconds of ascending) {
    const bar = Math.min(BARS - 1, Math.floor((seconds / last) * BARS));
    counts[bar] = (counts[bar] ?? 0) + 1;
  }
  return { edges: Array.from({ length: BARS + 1 }, (_, bar) => (last * bar) / BARS), counts };
}
