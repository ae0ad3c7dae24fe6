/** What a cascade is predicted to do at a rate, whole or without some of its stages. */
interface PredictedCascade {
  /** Requests per engine second that it sustains; null where no stage is left. */
  readonly capacityPerSecond: number | null;
  /** End to end; null where it does not keep up with the rate, or no stage is left. */
  readonly p95Seconds: number | null;
  /** Mean label of the answers that are given, 0..100; null where `p95Seconds` is. */
  readonly quality: number | null;
  /** Of the requests, those that are refused because only a smaller model could answer them. */
  readonly refusedShare: number;
}

/** A plan's cascade without the stages that are lost, simulated as plans are, beside the whole of it. */
export interface RemainingCascade {
  /** Per engine second. */
  readonly requestsPerSecond: number;
  /** Where the rate comes from, in a sentence. */
  readonly basis: string;
  readonly whole: PredictedCascade;
  readonly remaining: PredictedCascade;
}
