import type { GateDocument } from "./gateDocument";

/** What is known of an answer when its gate scores it. */
export interface AnswerEvidence {
  readonly prompt: string;
  readonly answer: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Whether the engine ended it at its limit on tokens. */
  readonly endedByLength: boolean;
  /**
   * Whether it lacks a structure that it must have: text or arguments of a tool call that are no JSON. Left out: it does not. No client can
   * use such an answer, however sure its model is of it.
   */
  readonly hasBrokenStructure?: boolean;
  /** Tokens of the answer and their natural log probabilities, parallel; null where the engine reports none. */
  readonly tokens: { readonly texts: readonly string[]; readonly logProbabilities: Float64Array } | null;
  /** Further answers to the same prompt, for agreement; null where none were asked for or all failed. */
  readonly others: readonly string[] | null;
  /** The judge's score, 0..100; null where it was not asked or gave none. */
  readonly judgedScore: number | null;
}

/** What a gate reads besides the answer's text. */
export type GateNeed = "judge" | "log-probabilities" | "other-answers";

/** Why an answer has no score. */
export type UnscoredCause = "no-judged-score" | "no-log-probabilities" | "no-other-answers" | "no-extractable-answer";

/** What a gate says of an answer before its calibration. */
export type RawReading =
  | {
      readonly kind: "scored";
      /** 0..100. */
      readonly score: number;
    }
  | { readonly kind: "unscored"; readonly cause: UnscoredCause };

/** What a gate says of an answer; where it is scored, the score is calibrated if the gate has a calibration. */
export type GateReading = RawReading & {
  /**
   * Scores before calibration, 0..100, of the gates that it consists of, in order: what a later calibration is fitted to. null where one has
   * none; for an answer with a broken structure none has, unless the judge alone is the gate.
   */
  readonly raw: readonly (number | null)[];
};

/** A gate: reads what is known of an answer, gives a score that a threshold is compared with. Pure: no calls of its own. */
export interface Gate {
  readonly kind: GateDocument["kind"];
  readonly needs: readonly GateNeed[];
  /** Raw and calibrated scores together: each gate that it consists of reads the answer once. */
  score(evidence: AnswerEvidence): GateReading;
  /**
   * The next evidence that is needed before the answer can be decided, so that later gates of a sequence are asked for doubtful answers
   * alone; null: `score` can be called. A gate that is no sequence asks for each of its needs once.
   */
  nextNeed(evidence: AnswerEvidence, asked: ReadonlySet<GateNeed>): GateNeed | null;
}
