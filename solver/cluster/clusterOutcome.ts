/** The results of a stage for the requests that visited it. */
export interface StageOutcome {
  readonly model: string;
  /** Requests the stage answered. */
  readonly requests: number;
  /** `requests` divided by all requests of the sample. */
  readonly share: number;
  /** Index in the sample of each answer's request, in the order of answers; the latencies are parallel to it. */
  readonly request: Int32Array;
  /** From joining the stage's queue to the last token at its client, without judging. */
  readonly latencySeconds: Float64Array;
  /** From joining the stage's queue to the first token at its client. */
  readonly ttftSeconds: Float64Array;
  /**
   * Mean share of time, first arrival to last finish, in which the model's replicas had a running step. Near 1 long before a
   * replica is full: continuous batching keeps stepping with a single sequence.
   */
  readonly busyShare: number;
  /** Share of its prompts' tokens that its engines found in their prefix caches; left out where they keep none. */
  readonly prefixHitShare?: number | undefined;
}

/** The outcome of every request of a sample. Arrays are parallel to the sample. */
export interface ClusterOutcome {
  /** Arrival to accepted answer, judging included; Infinity for an unserved request. */
  readonly endToEndSeconds: Float64Array;
  /** Arrival to the first token that can be forwarded: at once from a stage without a judge, else after acceptance. */
  readonly ttftSeconds: Float64Array;
  /** Stage whose answer was accepted; -1 for an unserved request. */
  readonly finalStage: Int8Array;
  /** Label of the accepted answer, 0..100; NaN for an unserved request. */
  readonly quality: Float64Array;
  /** Stages from the first to the last one that any request entered. */
  readonly stages: readonly StageOutcome[];
  readonly horizonSeconds: number;
  /** Requests that no replica could hold or that the policy never sent. */
  readonly unserved: number;
  readonly preemptions: number;
  /** Mean time of a judgement, queueing included; 0 without judgements. */
  readonly judgeMeanSeconds: number;
}
