/** A model whose confidences are kept. */
export interface ScoredModel {
  readonly model: string;
  /** SHA-256, in hex, of the prompts and the model's labels: equal ones are the same prompts in the same rows. */
  readonly labels: string;
}

/** Confidences of a trained predictor for every prompt of a workload, each by heads that were not trained on the prompt. */
export interface ConfidenceScores {
  readonly models: readonly ScoredModel[];
  /** 0..1: by row of the outcome table, then by model. */
  readonly scores: Float32Array;
}
