/** One system's results at one rate under one seed. Latencies are of programs, arrival to the last answer; queue times likewise. */
export interface LabCell {
  /** Indices into the description. */
  readonly system: number;
  readonly rate: number;
  readonly seed: number;
  readonly programs: number;
  readonly requests: number;
  /** Programs not completely served; they are in no mean below. */
  readonly unserved: number;
  readonly meanSeconds: number;
  /** Quantiles 0, 0.01, ..., 1 of the latency. */
  readonly latencyQuantiles: readonly number[];
  /** Mean over programs of latency over output tokens. */
  readonly meanSecondsPerToken: number;
  /** Quantiles 0.5, 0.9, 0.95 and 0.99 of the same over programs; absent in older cells. */
  readonly secondsPerTokenQuantiles?: SecondsPerTokenQuantiles;
  readonly meanQueueSeconds: number;
  /**
   * Mean over programs of queue time over latency, 0 and more: waits of parallel requests add up. Absent in older
   * cells.
   */
  readonly queueShare?: number;
  /** Longest that a request waited to enter a batch. */
  readonly longestWaitSeconds: number;
  /** Programs by their output tokens in tenths of equal number, shortest first. */
  readonly queueByLength: readonly { readonly mostTokens: number; readonly programs: number; readonly meanQueueSeconds: number }[];
  /** Mean quality, 0..100; null where it is unknown. */
  readonly quality: number | null;
  /** Figures of the programs of each workflow of the mix; absent in older cells. */
  readonly workflows?: readonly WorkflowFigures[];
  readonly programsPerSecond: number;
  /** From the first arrival to the last answer; absent in older cells. */
  readonly spanSeconds?: number;
  readonly usdPerProgram: number;
  readonly preemptions: number;
  /** Share of the answered requests that were preempted once or more; absent in older cells. */
  readonly preemptedShare?: number;
  readonly promotions: number;
  /**
   * By model, the share of requests it answered, of the time in which its engines were stepping, and the mean utilisation of its engines
   * (sequences or KV cache, whichever is closer to its limit): an engine with a single request steps all the time.
   */
  readonly models: readonly { readonly model: string; readonly share: number; readonly busyShare: number; readonly fullShare: number }[];
  /** SHA-256 of the times and models of all requests: equal where a run was reproduced. */
  readonly digest: string;
}

/** Of the programs of one workflow that were completely served. */
export interface WorkflowFigures {
  readonly workflow: string;
  readonly programs: number;
  readonly meanSeconds: number;
  /** Quantiles 0, 0.01, ..., 1 of the latency. */
  readonly latencyQuantiles: readonly number[];
  readonly meanSecondsPerToken: number;
  /** Mean quality, 0..100; null where it is unknown. */
  readonly quality: number | null;
}

export interface SecondsPerTokenQuantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
}
