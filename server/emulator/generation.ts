/** The tokens that an engine reads and writes for a prompt. */
export interface Generation {
  /** Text of the prompt; empty if it was given as token ids. */
  readonly prompt: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Text of the token at an index; also of those behind the end. */
  readonly token: (index: number) => string;
  /** Made-up probability of the token at an index, above 0 and at most 1; of the answer and of the prompt. */
  readonly probability: (index: number) => number;
  readonly promptProbability: (index: number) => number;
}
