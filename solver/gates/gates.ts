// The entry of this room, beside `gateDocument` with its schemas.

export { isSameComparison } from "./answerAgreement";
export { answerFact, readsLogProbabilities, type ScorerDocument, scorerProbability } from "./answerFacts";
export { type AnswerWords, answerWords } from "./answerWords";
export { calibratedScore } from "./calibratedScore";
export { createGate } from "./createGate";
export { fitCalibration } from "./fitCalibration";
export type { AnswerEvidence, Gate, GateNeed, UnscoredCause } from "./gate";
export { gateText, measureWords, partWords } from "./gateText";
export { isJson } from "./jsonAnswer";
export { labelledStage, unusableLabelWords } from "./labelledStage";
export { type LeftOutLabels, leftOutLabels, leftOutText, type UnusableLabel } from "./leftOutLabels";
export { NEEDED_LABELS, type Recalibration, recalibrate, type ScoreReliability } from "./recalibrate";
export { expectedCalibrationError, type ReliabilityBin, reliabilityBins } from "./reliability";
export { areaDifference, type RiskCoverage, riskCoverage, riskCoverageArea } from "./riskCoverage";
export { isScoredByJudge, isUnjudged, judgeScoreOf } from "./stageScore";
export { isSameReading } from "./tokenConfidence";
export { withCalibrations } from "./withCalibrations";
