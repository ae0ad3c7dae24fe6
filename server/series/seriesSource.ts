import type { SeriesKey, SeriesRange } from "@/server/contracts/seriesRange";

export interface RangeRequest {
  readonly fromMs: number;
  /** Not in the range any more. */
  readonly toMs: number;
  /** Buckets given at most. */
  readonly points: number;
  readonly series: readonly SeriesKey[];
}

/** Where series are read from: what the studio kept itself, or a Prometheus server. */
export interface SeriesSource {
  /** Subjects of which something is known in the range. */
  subjects(fromMs: number, toMs: number): Promise<readonly string[]>;
  range(request: RangeRequest): Promise<SeriesRange>;
}
