import table from "./cases.json" with { type: "json" };

/** Two models of a ladder on grade-school maths, a small model that answers beside the first, and floors between the two's qualities. */
export interface GateLadder {
  readonly name: string;
  readonly model: string;
  readonly next: string;
  readonly peer: string;
  /** Mean quality of what is served, 0..100. */
  readonly floors: readonly number[];
}

/** Chosen by families, sizes and published accuracies before any run. */
export const gateLadders: readonly GateLadder[] = table;
