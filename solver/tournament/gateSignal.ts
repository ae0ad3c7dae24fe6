import type { LearntScorer, SequenceDocument } from "@/solver/gates/gateDocument";

/** Where a stage's gate could get its score from. */
export type SignalKind = "judge" | "confidence" | "agreement" | "scorer" | "sequence" | "router";

/** What a gate takes per answer beside the answer itself. */
export interface SignalCost {
  /** Tokens that further calls read and write, on average; null where they are not known. */
  readonly extraTokens: number | null;
  /** Time that an answer waits for its score, on average; null where it is not known. */
  readonly extraSeconds: number | null;
  /** Share of the answers that a sequence asks the judge about; left out for other gates. */
  readonly judgedShare?: number;
}

/** A gate's raw scores of one model's answers to the prompts of a table. */
export interface GateSignal {
  readonly kind: SignalKind;
  /** Distinguishes signals of one kind. */
  readonly name: string;
  /** Drawn by a model of it, not measured: its errors are those that the model has. */
  readonly modelled: boolean;
  /** Raw scores 0..100, parallel to the table's prompts. Of a trained gate and of a sequence, those of planning prompts are cross-fitted. */
  readonly raw: Float64Array;
  readonly cost: SignalCost;
  /** Of a trained scorer: what it learnt from all planning prompts. */
  readonly scorer?: LearntScorer;
  /** Of a sequence: its gates, calibrated on all planning prompts, and its bounds. Its scores are calibrated ones. */
  readonly sequence?: SequenceDocument;
}

/** The answers of a stage's model, and of the model that refused answers go to; labels 0..100, parallel to the table's prompts. */
export interface StageAnswers {
  readonly model: string;
  readonly next: string;
  readonly label: Float64Array;
  readonly nextLabel: Float64Array;
}
