/** One series: a quantity of a subject. */
export interface SeriesKey {
  /** `engine:<id>`, `gpu:<node>/<index>`, `stage:<model>` or `gateway`. */
  readonly subject: string;
  readonly quantity: string;
}

export interface RangeRequest {
  readonly fromMs: number;
  /** Not in the range any more. */
  readonly toMs: number;
  /** Buckets given at most. */
  readonly points: number;
  readonly series: readonly SeriesKey[];
}

/** A series over the buckets of its range, position by position. null: nothing was known then, which is not zero. */
export interface SeriesColumns extends SeriesKey {
  readonly min: readonly (number | null)[];
  readonly max: readonly (number | null)[];
  readonly mean: readonly (number | null)[];
  readonly last: readonly (number | null)[];
  /** Samples in each bucket; 0 in a gap. */
  readonly count: readonly number[];
}

export interface SeriesRange {
  readonly bucketMs: number;
  /** When each bucket begins, ascending, the same for all series. Where nothing at all was collected one bucket stands for the whole gap. */
  readonly atMs: readonly number[];
  /** In the order asked for. */
  readonly series: readonly SeriesColumns[];
  /** What could not be read, and why, in sentences; its series are gaps. */
  readonly problems: readonly string[];
}

/** Where series are read from: what the studio kept itself, or a Prometheus server. */
export interface SeriesSource {
  /** Subjects of which something is known in the range. */
  subjects(fromMs: number, toMs: number): Promise<readonly string[]>;
  range(request: RangeRequest): Promise<SeriesRange>;
}
