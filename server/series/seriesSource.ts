import type { SeriesKey, SeriesRange } from "@/server/contracts/studio/seriesRange";

export interface RangeRequest {
  readonly fromMs: number;
  /** Exclusive end of the range. */
  readonly toMs: number;
  /** Width of the buckets, as `bucketWidth` gives it; where samples are fewer a source makes them wider. */
  readonly bucketMs: number;
  readonly series: readonly SeriesKey[];
}

/** Where series are read from: what the studio kept itself, or a Prometheus server. */
export interface SeriesSource {
  /** New data appears no more often than this. */
  readonly everyMs: number;
  /** Subjects of which something is known in the range. */
  subjects(fromMs: number, toMs: number): Promise<readonly string[]>;
  range(request: RangeRequest): Promise<SeriesRange>;
}
