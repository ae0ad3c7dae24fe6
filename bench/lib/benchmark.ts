/** One figure that Weir claims, with the budget it is held against. */
export interface Benchmark {
  readonly name: string;
  /** null: a figure to report, not to keep. */
  readonly budget: Budget | null;
  /** Measures once. Bounded in time; starts nothing that outlives it. */
  run(): Promise<Measurement> | Measurement;
}

/** A figure in the measurement's unit, and on which side of it is good. */
export interface Budget {
  readonly figure: number;
  readonly keep: "at most" | "at least";
}

export interface Measurement {
  readonly figure: number;
  readonly unit: string;
  /** What was measured, on what input, so that the figure can be read alone. */
  readonly detail: string;
}

/** Whether a measurement keeps its budget, as the table says it. */
export function verdict({ figure }: Measurement, budget: Budget | null): "kept" | "missed" | "-" {
  if (budget === null) return "-";
  return (budget.keep === "at most" ? figure <= budget.figure : figure >= budget.figure) ? "kept" : "missed";
}
