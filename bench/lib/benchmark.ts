/** One figure that Weir claims, with the budget it is compared with. */
export interface Benchmark {
  readonly name: string;
  /** null: a reported figure without a limit. */
  readonly budget: Budget | null;
  /** Measures once. Bounded in time; starts nothing that outlives it. */
  run(): Promise<Measurement> | Measurement;
}

/** A figure in the measurement's unit, and whether higher or lower is good. */
export interface Budget {
  readonly figure: number;
  readonly keep: "at most" | "at least";
}

export interface Measurement {
  readonly figure: number;
  readonly unit: string;
  /** The measured quantity and the input, so that the figure can be read alone. */
  readonly detail: string;
}

/** Whether a measurement keeps its budget, in the form of the table. */
export function verdict({ figure }: Measurement, budget: Budget | null): "kept" | "missed" | "-" {
  if (budget === null) return "-";
  return (budget.keep === "at most" ? figure <= budget.figure : figure >= budget.figure) ? "kept" : "missed";
}
