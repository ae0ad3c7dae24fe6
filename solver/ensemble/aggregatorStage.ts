/** Sampled questions as the aggregator reads and answers them, in parallel arrays. */
export interface AggregatedQuestions {
  /** Tokens of the question itself. */
  readonly questionTokens: ArrayLike<number>;
  /** Tokens of its experts' answers together. */
  readonly answerTokens: ArrayLike<number>;
  /** What the aggregator writes. */
  readonly outputTokens: ArrayLike<number>;
  /** Of the gate, 0..1: the least confident are aggregated first. null: not known, so that any are as likely. */
  readonly confidence: ArrayLike<number> | null;
}
