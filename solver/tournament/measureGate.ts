import type { Calibration, LearntScorer, SequenceDocument } from "@/solver/gates/gateDocument";
import {
  calibratedScore,
  expectedCalibrationError,
  fitCalibration,
  type ReliabilityBin,
  type RiskCoverage,
  reliabilityBins,
  riskCoverage,
  riskCoverageArea,
} from "@/solver/gates/gates";
import { aucOf } from "@/solver/judging/concordance";
import type { LabelledScore } from "@/solver/judging/pairCounts";
import type { Interval } from "@/solver/numeric/interval";
import type { PromptSplit } from "@/solver/workload/split";
import { overRandomEscalation } from "./escalation";
import type { GateSignal, SignalCost, SignalKind, StageAnswers } from "./gateSignal";

/** How good one gate is on answers that it was not calibrated on. */
export interface MeasuredGate {
  readonly kind: SignalKind;
  readonly name: string;
  readonly modelled: boolean;
  /** null: too few planning answers for one, and the gate was measured by its raw scores; or a sequence, whose gates have their own. */
  readonly calibration: Calibration | null;
  /** Of a trained scorer: what a gate needs beside the calibration. */
  readonly scorer?: LearntScorer;
  /** Of a sequence: the gates, with their calibrations. */
  readonly sequence?: SequenceDocument;
  /** Probability that a right answer has a higher score than a wrong one; null where all answers have the same label. */
  readonly auc: Interval | null;
  /** Expected calibration errors of the raw and of the calibrated scores, in points. */
  readonly rawCalibrationError: number;
  readonly calibrationError: number;
  /** Of the raw and of the calibrated scores. */
  readonly rawReliability: readonly ReliabilityBin[];
  readonly reliability: readonly ReliabilityBin[];
  readonly riskCoverage: RiskCoverage;
  /** Risk-coverage area of the raw scores on the planning prompts, by which the best gate is chosen. */
  readonly planningArea: number;
  /** Points of quality above random escalation at the tournament's share, with a bootstrap interval of 90 %. */
  readonly overRandom: Interval;
  readonly cost: SignalCost;
  /** Calibrated scores of the held-out answers, in the order of the split. */
  readonly scores: Float64Array;
}

export interface GateMeasuring {
  readonly split: PromptSplit;
  /** Share of answers sent on, 0..1. */
  readonly share: number;
  readonly seed: number;
}

/** Calibrates a gate on the planning prompts and measures it on the others. */
export function measureGate(answers: StageAnswers, signal: GateSignal, { split, share, seed }: GateMeasuring): MeasuredGate {
  const scored = (rows: Int32Array): LabelledScore[] =>
    Array.from(rows, (row) => ({ score: signal.raw[row] ?? 0, label: answers.label[row] ?? 0 }));
  const planned = scored(split.planning);
  const calibration = signal.sequence === undefined ? fitCalibration(planned) : null;
  const raw = scored(split.heldOut);
  const calibrated = raw.map(({ score, label }) => ({ score: calibratedScore(score, calibration ?? undefined), label }));
  const scores = Float64Array.from(calibrated, ({ score }) => score);
  const gains = Float64Array.from(split.heldOut, (row) => (answers.nextLabel[row] ?? 0) - (answers.label[row] ?? 0));
  const { kind, name, modelled, cost, scorer, sequence } = signal;
  const made = { ...(scorer !== undefined && { scorer }), ...(sequence !== undefined && { sequence }) };
  return {
    ...{ kind, name, modelled, calibration, cost, scores, ...made },
    auc: aucOf(calibrated),
    rawCalibrationError: expectedCalibrationError(raw),
    calibrationError: expectedCalibrationError(calibrated),
    rawReliability: reliabilityBins(raw),
    reliability: reliabilityBins(calibrated),
    riskCoverage: riskCoverage(calibrated, seed),
    planningArea: riskCoverageArea(planned),
    overRandom: overRandomEscalation({ scores, gains }, share, seed),
  };
}
