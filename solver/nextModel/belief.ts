import { calibratedScore } from "@/solver/gates/gates";
import type { CascadeRoutingDocument, RoutedGate } from "./cascadeRoutingDocument";

/**
 * Probability of each pattern of right and wrong answers of a ladder's models to one prompt; bit s of the index: the answer of stage s is
 * right. Models are right on the same prompts, so one poor answer lowers what is expected of the others too.
 */
export type Belief = Float64Array;

/** Bounds of a router's score as a probability: its logarithm of odds stays finite. */
const LEAST_SCORE = 0.02;

/** Bounds of a calibrated gate score as a probability: no single score makes an answer certain. */
const LEAST_CALIBRATED = 0.01;

/** Logarithm of the odds of a router's score, 0..100. */
export function logOdds(score: number): number {
  const probability = Math.min(1 - LEAST_SCORE, Math.max(LEAST_SCORE, score / 100));
  return Math.log(probability / (1 - probability));
}

/**
 * What is expected before any model has answered: P(y | h) proportional to exp(θ_y + Σ_s y_s β_s (x_s - c_s)), with the pattern y, the log odds x
 * of the heads' scores h, and the document's θ, β and c.
 *
 * @param scores router scores, 0..100, one for each stage.
 */
export function priorBelief({ patterns, heads }: Pick<CascadeRoutingDocument, "patterns" | "heads">, scores: readonly number[]): Belief {
  const shifts = heads.map(({ slope, centre }, stage) => slope * (logOdds(scores[stage] ?? 50) - centre));
  const belief = Float64Array.from(patterns, (weight, pattern) =>
    shifts.reduce((sum, shift, stage) => sum + (isRight(pattern, stage) ? shift : 0), weight),
  );
  const highest = belief.reduce((most, own) => Math.max(most, own), Number.NEGATIVE_INFINITY);
  return normalised(belief.map((own) => Math.exp(own - highest)));
}

/** Probability, 0..1, that the stage's answer is right: with graded labels, its expected quality. */
export function rightAt(belief: Belief, stage: number): number {
  let sum = 0;
  for (const [pattern, probability] of belief.entries()) if (isRight(pattern, stage)) sum += probability;
  return sum;
}

/** How much likelier a gate says something of right answers than of wrong ones, as two weights. */
export interface Likelihood {
  readonly ifRight: number;
  readonly ifWrong: number;
}

/** The belief after a gate has scored the stage's answer (Bayes): what the score says of that answer, it says of the others through it. */
export const updated = (belief: Belief, stage: number, { ifRight, ifWrong }: Likelihood): Belief =>
  normalised(belief.map((probability, pattern) => probability * (isRight(pattern, stage) ? ifRight : ifWrong)));

/** A gate's possible scores with their likelihoods. */
export interface GateReadings {
  /** What the gate may say of an answer: the likelihoods of a right and of a wrong one to get the level. Each column sums to 1. */
  readonly levels: readonly Likelihood[];
  /** Of a score that the gate gave. */
  readonly of: (score: number) => Likelihood;
  /** Of the lowest that it can give. */
  readonly lowest: Likelihood;
}

/** The likelihoods of a gate's scores, from the quality that answers of a score have and the share of answers that get it. */
export function gateReadings({ calibration, levels }: RoutedGate): GateReadings {
  const shares = levels.reduce((sum, { share }) => sum + share, 0);
  const known = levels.map(({ score, share }) => ({ right: bounded(score / 100), share: share / shares }));
  const base = known.reduce((sum, { right, share }) => sum + share * right, 0);
  const of = (score: number): Likelihood => {
    const right = bounded(calibratedScore(score, calibration) / 100);
    return { ifRight: right / base, ifWrong: (1 - right) / (1 - base) };
  };
  return {
    levels: known.map(({ right, share }) => ({ ifRight: (share * right) / base, ifWrong: (share * (1 - right)) / (1 - base) })),
    of,
    // Beyond its first point a calibration is constant.
    lowest: of(calibration.raw[0] ?? 0),
  };
}

const isRight = (pattern: number, stage: number): boolean => ((pattern >> stage) & 1) === 1;

const bounded = (probability: number): number => Math.min(1 - LEAST_CALIBRATED, Math.max(LEAST_CALIBRATED, probability));

function normalised(weights: Float64Array): Belief {
  const sum = weights.reduce((total, own) => total + own, 0);
  return weights.map((own) => own / sum);
}
