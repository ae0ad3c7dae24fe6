import type { Calibration } from "@/solver/gates/gateDocument";
import { calibratedScore, fitCalibration } from "@/solver/gates/gates";
import type { LabelledScore } from "@/solver/judging/pairCounts";

/** Points of the calibration, evenly over the scores. */
const POINTS = 41;

/** Newton steps of the logistic fit: from 0 it converges in about six. */
const STEPS = 25;

/** Pulls the slope towards 0, in answers: scores that separate right from wrong wholly would have no finite one. */
const RIDGE = 1;

/**
 * A calibration that rises everywhere: the mean of the isotonic one (`fitCalibration`) and of a logistic one (Platt 1999). Isotonic blocks are
 * flat, so that a small step of a trade-off would send all answers of a block on at once, and none between.
 *
 * @param answers raw scores, 0..100, and labels, 0..100.
 * @returns null where there are too few answers for the isotonic one.
 */
export function fitRisingCalibration(answers: readonly LabelledScore[]): Calibration | null {
  const isotonic = fitCalibration(answers);
  if (isotonic === null) return null;
  const scores = answers.map(({ score }) => score);
  const low = scores.reduce((least, score) => Math.min(least, score), Number.POSITIVE_INFINITY);
  const high = scores.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY);
  if (high - low < 1e-9) return isotonic;
  const { bias, slope } = logistic(answers);
  const raw = Array.from({ length: POINTS }, (_, at) => low + (at / (POINTS - 1)) * (high - low));
  const calibrated = raw.map((score) => (calibratedScore(score, isotonic) + 100 / (1 + Math.exp(-(bias + (slope * score) / 100)))) / 2);
  return { raw, calibrated };
}

/** The odds of a right answer by its score as a share of 100; a slope below 0, of a gate that says the opposite, is 0. */
function logistic(answers: readonly LabelledScore[]): { readonly bias: number; readonly slope: number } {
  let [bias, slope] = [0, 0];
  for (let step = 0; step < STEPS; step += 1) {
    let [g0, g1, h00, h01, h11] = [0, -RIDGE * slope, RIDGE, 0, RIDGE];
    for (const { score, label } of answers) {
      const x = score / 100;
      const right = 1 / (1 + Math.exp(-(bias + slope * x)));
      const weight = right * (1 - right);
      g0 += label / 100 - right;
      g1 += (label / 100 - right) * x;
      h00 += weight;
      h01 += weight * x;
      h11 += weight * x * x;
    }
    const determinant = h00 * h11 - h01 * h01;
    bias += (h11 * g0 - h01 * g1) / determinant;
    slope += (h00 * g1 - h01 * g0) / determinant;
  }
  return slope > 0 ? { bias, slope } : { bias: meanOdds(answers), slope: 0 };
}

function meanOdds(answers: readonly LabelledScore[]): number {
  const right = answers.reduce((sum, { label }) => sum + label / 100, 0);
  return Math.log((right + 1) / (answers.length - right + 1));
}
