import type { SeedEstimate } from "@/solver/lab/overSeeds";

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
  /** What makes the benchmark miss it. A budget that nothing can make it miss is none. */
  readonly missedIf: string;
}

export const atMost = (figure: number, missedIf: string): Budget => ({ figure, keep: "at most", missedIf });

export const atLeast = (figure: number, missedIf: string): Budget => ({ figure, keep: "at least", missedIf });

/** A budget in the form of the tables. */
export const budgetText = (budget: Budget | null): string =>
  budget === null ? "-" : `${budget.keep} ${budget.figure.toLocaleString("en")}`;

export interface Measurement {
  readonly figure: number;
  /** Several figures in words, in place of the one; left out: there is one. */
  readonly text?: string;
  readonly unit: string;
  /** The measured quantity and the input, so that the figure can be read alone. */
  readonly detail: string;
  /** Student's interval of 90 % over seeds; left out where a figure has none. */
  readonly interval?: { readonly low: number; readonly high: number };
  readonly seeds?: number;
}

/** A figure over seeds, with its interval. */
export function overSeeds(of: SeedEstimate | null | undefined): Pick<Measurement, "figure" | "interval" | "seeds"> {
  if (of == null) return { figure: Number.NaN };
  const { value, low, high, seeds } = of;
  return { figure: value, seeds, ...(low !== null && high !== null && { interval: { low, high } }) };
}

/** Whether a measurement keeps its budget, in the form of the table. */
export function verdict({ figure }: Measurement, budget: Budget | null): "kept" | "missed" | "-" {
  if (budget === null) return "-";
  return (budget.keep === "at most" ? figure <= budget.figure : figure >= budget.figure) ? "kept" : "missed";
}
