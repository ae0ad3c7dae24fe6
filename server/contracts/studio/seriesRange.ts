/** One series: a quantity of a subject. */
export interface SeriesKey {
  /** `engine:<id>`, `gpu:<node>/<index>`, `stage:<model>` or `gateway`. */
  readonly subject: string;
  readonly quantity: string;
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
