import { z } from "zod";
import type { SimpleGateDocument } from "@/solver/gates/gateDocument";
import type { LeftOutLabels, ScoreReliability } from "@/solver/gates/gates";
import type { Interval } from "@/solver/numeric/interval";

/** Labels that one call gives at most. */
export const MOST_ANSWER_LABELS = 1000;

const labelOfAnswer = z.object({
  /** Id of the decision, as clients get it in `x-weir-decision-id`. */
  decisionId: z.string().min(1).max(200),
  /** The stage whose answer is meant; left out: the answer that the client got. */
  model: z.string().min(1).max(200).optional(),
  /** How well the answer serves its user: 0 wrong, 50 half right, 100 right and complete. */
  quality: z.number().min(0).max(100),
});

export const labelAnswersSchema = z.object({
  clusterId: z.string().min(1),
  labels: z.array(labelOfAnswer).min(1).max(MOST_ANSWER_LABELS),
});
export type AnswerLabelOrder = z.infer<typeof labelOfAnswer>;

/** What became of the labels of one call. */
export interface KeptLabels {
  readonly kept: number;
  /** Labels that cannot count, by reason. */
  readonly leftOut: readonly LeftOutLabels[];
  /** The same as one sentence; null: none is left out. */
  readonly note: string | null;
}

export const labelsOfDecisionSchema = z.object({ clusterId: z.string().min(1), decisionId: z.string().min(1).max(200) });

export const recalibrateGatesSchema = z.object({
  clusterId: z.string().min(1),
  /** The plan in force whose gates were looked at. */
  planId: z.string().min(1),
});
export type RecalibrateGatesOrder = z.infer<typeof recalibrateGatesSchema>;

/** A person's label of an answer that a gateway served. */
export interface AnswerLabel {
  readonly decisionId: string;
  readonly model: string;
  readonly quality: number;
  readonly actor: string;
  readonly at: string;
}

/** A label with what its gate knew of the answer. */
export interface StoredAnswerLabel extends AnswerLabel {
  readonly clusterId: string;
  /** The plan that was in force: its policy names the gate. */
  readonly planId: string;
  /** Scores before calibration, of the gates that the stage's gate consists of; null for one that had none. */
  readonly raw: readonly (number | null)[];
}

/** What labels of served answers say of one gate in force. */
export interface LabelledGate {
  /** From 1. */
  readonly stage: number;
  readonly model: string;
  readonly kind: SimpleGateDocument["kind"];
  /** The gate in words. */
  readonly gate: string;
  readonly calibrated: boolean;
  /** Given since the plan in force was made. */
  readonly labels: number;
  readonly good: number;
  readonly bad: number;
  /** Given before: the calibration in force may have been fitted to them, so that they are fitted to, and not measured on. */
  readonly earlier: number;
  /** null: too few labels for a new calibration. */
  readonly fitted: FittedCalibration | null;
}

export interface FittedCalibration {
  /** By the calibration in force. */
  readonly before: ScoreReliability;
  /** By the new one, each answer by a fit that left it out. */
  readonly after: ScoreReliability;
  /** Fall of the Brier score, 0..1. */
  readonly gain: Interval;
  /** Shares of the labelled answers that the threshold accepts, 0..1; null for a gate in a sequence, where another one may decide. */
  readonly accepted: { readonly before: number; readonly after: number } | null;
}

/** The gates of a plan in force, by labels of answers that were served. */
export interface LabelledGates {
  readonly planId: string;
  readonly workloadId: string;
  /** What a new calibration of a gate needs: new labels in all, and of good and bad answers each. */
  readonly needed: { readonly all: number; readonly ofEach: number };
  readonly gates: readonly LabelledGate[];
}
