import type { Outcome } from "@/server/contracts/studio";
import type { SeriesSource } from "@/server/series/seriesSource";
import type { Collector } from "@/server/telemetry/collector";
import type { Stretch } from "@/solver/workload/segmentArrivals";

/** Arrivals on their own clock, with the time that was searched. */
export interface FoundArrivals {
  /** Seconds since the start of `clock`, ascending: at least two within `known`, and not all at once. */
  readonly arrivalSeconds: Float64Array;
  /** Their source, in words. */
  readonly origin: string;
  /** Stretches of known time, in order and disjoint: arrivals outside of them are unknown. */
  readonly known: readonly Stretch[];
  /** null: without a time of day. */
  readonly clock: ArrivalsClock | null;
}

export interface ArrivalsClock {
  /** Unix milliseconds; for a day without a date: since its midnight. */
  readonly beginsAtMs: number;
  /** Engine seconds per wall second. */
  readonly timeScale: number;
  /** Whether it is a recurring day without a date, in any time zone. */
  readonly anyDay: boolean;
}

/** The observed traffic of a cluster. */
export interface WatchedCluster {
  /** null: not seen yet. */
  collector(): Pick<Collector, "decisions"> | null;
  readonly series: SeriesSource;
  /** Engine seconds per wall second. */
  timeScale(): number;
}

export type Found = Outcome<{ readonly found: FoundArrivals }>;

/** Recorded arrivals: the time from the first to the last is known, inclusive. */
export function recorded({ arrivalSeconds, origin }: Pick<FoundArrivals, "arrivalSeconds" | "origin">, clock: ArrivalsClock | null): Found {
  const last = arrivalSeconds.at(-1) ?? 0;
  return { ok: true, found: { arrivalSeconds, origin, clock, known: [{ from: 0, to: last + 2 ** -20 * Math.max(1, last) }] } };
}

/** Why planning for arrivals is impossible; null: it is possible. */
export function tooFew(arrivals: Float64Array, where: string): string | null {
  if (arrivals.length < 2)
    return `There ${arrivals.length === 1 ? "is one arrival" : "are no arrivals"} ${where}: a workload needs at least 2.`;
  return arrivals.at(-1) === arrivals[0] ? `All arrivals ${where} are at one time: they have to span some.` : null;
}
