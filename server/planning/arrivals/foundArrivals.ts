import type { Outcome } from "@/server/contracts/studio";
import type { SeriesSource } from "@/server/series/seriesSource";
import type { Collector } from "@/server/telemetry/collector";
import type { Stretch } from "@/solver/workload/segmentArrivals";

/** Arrivals on a clock of their own, with the time in which they were looked for. */
export interface FoundArrivals {
  /** Seconds since `clock` begins, ascending: at least two within `known`, and not all at once. */
  readonly arrivalSeconds: Float64Array;
  /** Where they came from, in words. */
  readonly origin: string;
  /** What is known of, in order and disjoint: what came in the time outside is not known. */
  readonly known: readonly Stretch[];
  /** null: at no hour of any day. */
  readonly clock: ArrivalsClock | null;
}

export interface ArrivalsClock {
  /** Unix milliseconds; of any day: since its midnight. */
  readonly beginsAtMs: number;
  /** Engine seconds in a second of the wall. */
  readonly timeScale: number;
  /** Whether it is no date but a day that comes again and again, of whatever time zone. */
  readonly anyDay: boolean;
}

/** What is watched of a cluster's traffic. */
export interface WatchedCluster {
  /** null: it was not seen yet. */
  collector(): Pick<Collector, "decisions"> | null;
  readonly series: SeriesSource;
  /** Engine seconds in a wall second. */
  timeScale(): number;
}

export type Found = Outcome<{ readonly found: FoundArrivals }>;

/** Recorded arrivals: the time from the first to the last is known, that one included. */
export function recorded({ arrivalSeconds, origin }: Pick<FoundArrivals, "arrivalSeconds" | "origin">, clock: ArrivalsClock | null): Found {
  const last = arrivalSeconds.at(-1) ?? 0;
  return { ok: true, found: { arrivalSeconds, origin, clock, known: [{ from: 0, to: last + 2 ** -20 * Math.max(1, last) }] } };
}

/** Why nothing could be planned for arrivals; null: it can. */
export function tooFew(arrivals: Float64Array, where: string): string | null {
  if (arrivals.length < 2)
    return `There ${arrivals.length === 1 ? "is one arrival" : "are no arrivals"} ${where}: a workload needs at least 2.`;
  return arrivals.at(-1) === arrivals[0] ? `All arrivals ${where} are at one time: they have to span some.` : null;
}
