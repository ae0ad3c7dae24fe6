import cases from "./cases.json" with { type: "json" };

/** What is asked of every gate. Chosen before any run. */
export interface GateCases {
  /** Poisson arrivals. */
  readonly requestsPerSecond: number;
  /** Each gate at each threshold is measured in turn for so long. */
  readonly sliceSeconds: number;
  /** Slices of a repeat: each has its own questions and arrivals, the same for every gate and in every repeat. */
  readonly slices: number;
  readonly repeats: number;
  /** Of calibrated scores, 0..100. */
  readonly thresholds: readonly number[];
  /** Further answers that agreement compares with. */
  readonly samples: { readonly count: number; readonly temperature: number };
}

export const gateCases: GateCases = cases;
