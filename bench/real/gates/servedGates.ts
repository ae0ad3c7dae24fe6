import type { GateDocument } from "@/solver/gates/gateDocument";
import { fitCalibration } from "@/solver/gates/gates";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { crossFittedScores, trainScorer } from "@/solver/prediction/gateScorer";
import { whenUnscored } from "@/solver/stageGates/stageGate";
import { LARGE, SMALL } from "../connections";
import type { AskedAnswers } from "./askedAnswers";
import type { GateCases } from "./cases";
import { rawScores, samplesScores, scorerRows, servedScorer } from "./realSignals";

/** A policy that is measured: a gate at a threshold, or one model alone. */
export interface ServedPolicy {
  readonly name: string;
  /** Null: one model alone. */
  readonly threshold: number | null;
  readonly policy: PolicyDocument;
}

export const SMALL_ALONE = "small alone";
export const LARGE_ALONE = "large alone";

/** Folds of a scorer's scores that its calibration is fitted to. */
const FOLDS = 5;
const SEED = 1;

const queueing = { order: { kind: "fcfs" }, place: { kind: "least-load" } } as const;

/** The gates that are compared, trained and calibrated on answered questions: thresholds then mean the same for each. */
export function calibratedGates(answers: AskedAnswers, { samples }: GateCases): Readonly<Record<string, GateDocument>> {
  const { evidence, label } = answers;
  const calibrated = (raw: Float64Array) => {
    const calibration = fitCalibration(Array.from(raw, (score, row) => ({ score, label: label[row] ?? 0 })));
    if (calibration === null) throw new Error(`${raw.length} answers are too few for a calibration`);
    return { calibration };
  };
  const rows = scorerRows(answers, [...label.keys()], servedScorer);
  const confidence = { kind: "confidence", measure: "minimum" } as const;
  return {
    judge: { kind: "judge", ...calibrated(rawScores({ kind: "judge" }, evidence)) },
    confidence: { ...confidence, ...calibrated(rawScores(confidence, evidence)) },
    agreement: { kind: "agreement", answer: "whole", samples, ...calibrated(samplesScores(answers)) },
    scorer: {
      ...{ kind: "scorer", answer: "whole", ...trainScorer(rows, SEED) },
      ...calibrated(crossFittedScores(rows, { folds: FOLDS, seed: SEED })),
    },
  };
}

/** Each gate at each threshold, and both models alone. */
export function servedPolicies(
  gates: Readonly<Record<string, GateDocument>>,
  { thresholds, judgeModel }: { readonly thresholds: readonly number[]; readonly judgeModel: string },
): readonly ServedPolicy[] {
  const cascade = (threshold: number, gate: GateDocument): PolicyDocument => ({
    ...{ kind: "cascade", stages: [{ model: SMALL }, { model: LARGE }], thresholds: [threshold], gates: [gate] },
    ...{ judge: { model: judgeModel, secondsPerCall: 0, usdPerCall: 0, whenDown: whenUnscored([gate]) } },
    ...{ approvedRanges: { thresholds: [{ min: 0, max: 100 }] } },
    ...queueing,
  });
  return [
    ...[
      { name: SMALL_ALONE, model: SMALL },
      { name: LARGE_ALONE, model: LARGE },
    ].map(({ name, model }) => ({ name, threshold: null, policy: { kind: "fixed", model, ...queueing } as const })),
    ...Object.entries(gates).flatMap(([name, gate]) =>
      thresholds.map((threshold) => ({ name, threshold, policy: cascade(threshold, gate) })),
    ),
  ];
}
