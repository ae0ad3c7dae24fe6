/** Figures of a cascade or of its last model alone at one rate, predicted or measured. */
export interface CascadeFigures {
  readonly mean: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** The band of a predicted p95, or the interval of a measured one; null where the planner refuses the load. */
  readonly p95Low: number | null;
  readonly p95High: number | null;
  /** 0..100. */
  readonly quality: number;
  /** Share of the requests that the last model answered, 0..1. */
  readonly escalated: number;
  readonly requests: number;
  readonly failed: number;
  /** The client's 95th percentile of sending late, seconds; null for a prediction. */
  readonly lateP95: number | null;
  /** Why the planner refuses the load; null otherwise. */
  readonly refused: string | null;
}
