import table from "./cases.json" with { type: "json" };

/** Experts whose answers are gated, and the model whose own answers replace the aggregator's. */
export interface GateCase {
  /** `gsm` or `crux`. */
  readonly task: string;
  /** Its distinguishing property. */
  readonly kind: string;
  readonly experts: readonly string[];
  readonly aggregator: string;
}

/** Chosen by families, sizes and accuracies, not by their results. */
export const gateCases: readonly GateCase[] = table;
