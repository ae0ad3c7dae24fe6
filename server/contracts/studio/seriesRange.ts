/** One series: a quantity of a subject. */
export interface SeriesKey {
  /** `engine:<id>`, `gpu:<node>/<index>`, `stage:<model>` or `gateway`. */
  readonly subject: string;
  readonly quantity: string;
}

/** A series over the buckets of its range, position by position. null: nothing was known then, which differs from zero. */
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
  /** Start of each bucket, ascending, the same for all series. A gap without any samples is one bucket. */
  readonly atMs: readonly number[];
  /** In the requested order. */
  readonly series: readonly SeriesColumns[];
  /** Series that could not be read, and why, in sentences; they are gaps. */
  readonly problems: readonly string[];
}
