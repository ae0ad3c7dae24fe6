import type { LabelledScore } from "@/solver/judging/pairCounts";
import { type Interval, NORMAL_90 } from "@/solver/numeric/interval";
import { calibratedScore } from "./calibratedScore";
import { fitCalibration, LEAST_CALIBRATING_LABELS } from "./fitCalibration";
import type { Calibration } from "./gateDocument";
import { expectedCalibrationError, type ReliabilityBin, reliabilityBins } from "./reliability";

/** Labels that count as a good answer: at least half right. */
const GOOD_FROM = 50;

/** What a recalibration needs: labels in all, and of them good and bad answers each. */
export const NEEDED_LABELS = { all: LEAST_CALIBRATING_LABELS, ofEach: 5 } as const;

/** Answers that the calibration in force counts as. */
const ANSWERS_IN_FORCE = 30;

const FOLDS = 5;

/** How close a gate's scores are to the labels of the same answers. */
export interface ScoreReliability {
  /** Expected calibration error in points. */
  readonly error: number;
  readonly bins: readonly ReliabilityBin[];
}

/** How many labelled answers a gate has, and how many of them are good and bad. */
interface LabelCounts {
  readonly labels: number;
  readonly good: number;
  readonly bad: number;
}

export type Recalibration = LabelCounts &
  (
    | { readonly kind: "too-few" }
    | {
        readonly kind: "fitted";
        readonly calibration: Calibration;
        /** Scores by the calibration in force, which has not seen the labels. */
        readonly before: ScoreReliability;
        /** Scores by calibrations fitted to the other four fifths of the labels, so that no answer is scored by its own label. */
        readonly after: ScoreReliability;
        /** Fall of the mean squared distance between score / 100 and label / 100 (Brier score), with its interval of 90 %. */
        readonly gain: Interval;
      }
  );

/**
 * A gate's new calibration by labels of answers that it scored while it served. The one in force counts as 30 answers, spread over its
 * points, because labels of served answers are mostly of accepted ones and say nothing of scores below the threshold; where there are labels
 * they soon outweigh it.
 *
 * @param answers raw scores and labels, both 0..100.
 * @param inForce undefined: the gate serves its raw scores.
 */
export function recalibrate(answers: readonly LabelledScore[], inForce: Calibration | undefined): Recalibration {
  const good = answers.filter(({ label }) => label >= GOOD_FROM).length;
  const counts = { labels: answers.length, good, bad: answers.length - good };
  if (counts.labels < NEEDED_LABELS.all || Math.min(counts.good, counts.bad) < NEEDED_LABELS.ofEach) return { kind: "too-few", ...counts };
  const known = answersInForce(inForce);
  const fitted = (to: readonly LabelledScore[]): Calibration => {
    const calibration = fitCalibration([...known, ...to]);
    if (calibration === null) throw new Error("The calibration in force counts as too few answers.");
    return calibration;
  };
  const ascending = answers.toSorted((a, b) => a.score - b.score || a.label - b.label);
  const folds = Array.from({ length: FOLDS }, (_, fold) => fitted(ascending.filter((_, at) => at % FOLDS !== fold)));
  const scoredBy = (of: (at: number) => Calibration | undefined): LabelledScore[] =>
    ascending.map(({ score, label }, at) => ({ score: calibratedScore(score, of(at)), label }));
  const [before, after] = [scoredBy(() => inForce), scoredBy((at) => folds[at % FOLDS])];
  return {
    ...{ kind: "fitted", ...counts, calibration: fitted(answers) },
    ...{ before: reliabilityOf(before), after: reliabilityOf(after) },
    gain: meanFall(before, after),
  };
}

/** Artificial answers with the scores and qualities of a calibration, evenly over its points. */
function answersInForce(inForce: Calibration | undefined): readonly LabelledScore[] {
  const points = inForce?.raw ?? [0, 100];
  return Array.from({ length: ANSWERS_IN_FORCE }, (_, answer) => {
    const at = (answer / (ANSWERS_IN_FORCE - 1)) * (points.length - 1);
    const [below, above] = [points[Math.floor(at)] ?? 0, points[Math.ceil(at)] ?? 0];
    const score = below + (above - below) * (at % 1);
    return { score, label: calibratedScore(score, inForce) };
  });
}

const reliabilityOf = (scored: readonly LabelledScore[]): ScoreReliability => ({
  error: expectedCalibrationError(scored),
  bins: reliabilityBins(scored),
});

/** Mean fall of the squared distance between score and label from one scoring of the same answers to another, paired. */
function meanFall(before: readonly LabelledScore[], after: readonly LabelledScore[]): Interval {
  const distance = (one: LabelledScore | undefined): number => ((one?.score ?? 0) / 100 - (one?.label ?? 0) / 100) ** 2;
  const falls = before.map((one, at) => distance(one) - distance(after[at]));
  const value = falls.reduce((sum, fall) => sum + fall, 0) / falls.length;
  const variance = falls.reduce((sum, fall) => sum + (fall - value) ** 2, 0) / (falls.length - 1);
  const half = NORMAL_90 * Math.sqrt(variance / falls.length);
  return { value, low: value - half, high: value + half };
}
