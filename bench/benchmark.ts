/** One figure that Weir claims, with the budget it is held against. */
export interface Benchmark {
  readonly name: string;
  /** The claim in words, e.g. "500 ms" or "1,000,000 requests/s". */
  readonly budget: string;
  /** Measures once. Bounded in time; starts nothing that outlives it. */
  run(): Promise<Measurement> | Measurement;
}

export interface Measurement {
  readonly figure: number;
  readonly unit: string;
  /** What was measured, on what input, so that the figure can be read alone. */
  readonly detail: string;
}
