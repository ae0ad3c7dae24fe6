/**
 * Answers of several models to the same questions, with what is known of whether they are right: what a gate is chosen on. Arrays of a model are
 * parallel to `questionIds`.
 */
export interface AnswerSample {
  readonly questionIds: readonly string[];
  /** Parallel to `questionIds`; left out where questions have none. */
  readonly categories?: readonly string[];
  readonly models: readonly SampledModel[];
}

export interface SampledModel {
  readonly model: string;
  /** Its vote; null: nothing could be read off its answer. */
  readonly answers: readonly (string | null)[];
  /** 1 where it is right. */
  readonly correct: Uint8Array;
  readonly outputTokens: Int32Array;
  /** 1 where it was asked. */
  readonly asked: Uint8Array;
}
