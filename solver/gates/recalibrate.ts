import { isRightLabel } from "@/solver/judging/agreement";
import type { LabelledScore } from "@/solver/judging/pairCounts";
import { type Interval, NORMAL_90 } from "@/solver/numeric/interval";
import { calibratedScore } from "./calibratedScore";
import { fitCalibration } from "./fitCalibration";
import type { Calibration } from "./gateDocument";
import { expectedCalibrationError, type ReliabilityBin, reliabilityBins } from "./reliability";

const FOLDS = 5;

/** New labels that a recalibration needs, so that those without a fold suffice for a calibration, and of good and bad answers each. */
export const NEEDED_LABELS = { all: 40, ofEach: 5 } as const;

/** Points of the calibration in force that stay on either side of the labelled scores: a document holds 256 in all. */
const MOST_KEPT = 60;

/** The distance at which the calibration in force takes over from the labels, in points: raw scores are recorded to six digits. */
const NEXT = 1e-4;

/** How close a gate's scores are to the labels of the same answers. */
export interface ScoreReliability {
  /** Expected calibration error in points. */
  readonly error: number;
  readonly bins: readonly ReliabilityBin[];
}

/** A label of an answer with the raw score that its gate gave it. */
interface GivenLabel extends LabelledScore {
  /** Whether the calibration in force may have been fitted to it: then it is fitted to again, and nothing is measured on it. */
  readonly isSeen?: boolean;
}

/** How many labels are new to the calibration in force, and how many of them are of good and bad answers. */
interface LabelCounts {
  readonly labels: number;
  readonly good: number;
  readonly bad: number;
  /** Labels that it may have been fitted to. */
  readonly earlier: number;
}

export type Recalibration = LabelCounts &
  (
    | { readonly kind: "too-few" }
    | {
        readonly kind: "fitted";
        readonly calibration: Calibration;
        /** Of new labels, scores by the calibration in force, which has not seen them. */
        readonly before: ScoreReliability;
        /** Of the same, scores by calibrations fitted without a fifth of them, so that no answer is scored by its own label. */
        readonly after: ScoreReliability;
        /** Fall of the mean squared distance between score / 100 and label / 100 (Brier score), with its interval of 90 %. */
        readonly gain: Interval;
      }
  );

/**
 * A gate's new calibration by labels of answers that it scored while it served. It is fitted to the labels alone, because they are of the
 * present traffic; outside of the scores that they have the one in force stays, because clients see accepted answers alone, so that
 * labels say nothing of scores below the threshold.
 *
 * @param answers raw scores and labels, both 0..100.
 * @param inForce undefined: the gate serves its raw scores.
 */
export function recalibrate(answers: readonly GivenLabel[], inForce: Calibration | undefined): Recalibration {
  const [seen, fresh] = [answers.filter(({ isSeen }) => isSeen === true), answers.filter(({ isSeen }) => isSeen !== true)];
  const good = fresh.filter(({ label }) => isRightLabel(label)).length;
  const counts = { labels: fresh.length, good, bad: fresh.length - good, earlier: seen.length };
  const calibration = counts.labels < NEEDED_LABELS.all ? null : fitCalibration(answers);
  if (calibration === null || Math.min(counts.good, counts.bad) < NEEDED_LABELS.ofEach) return { kind: "too-few", ...counts };
  const ascending = fresh.toSorted((a, b) => a.score - b.score || a.label - b.label);
  const folds = Array.from({ length: FOLDS }, (_, fold) => fitCalibration([...seen, ...ascending.filter((_, at) => at % FOLDS !== fold)]));
  const scoredBy = (of: (at: number) => Calibration | undefined): LabelledScore[] =>
    ascending.map(({ score, label }, at) => ({ score: calibratedScore(score, of(at)), label }));
  const [before, after] = [scoredBy(() => inForce), scoredBy((at) => folds[at % FOLDS] ?? undefined)];
  const scores = answers.map(({ score }) => score);
  const [lowest, highest] = [Math.min(...scores), Math.max(...scores)];
  return {
    ...{ kind: "fitted", ...counts, calibration: joined(calibration, inForce, { lowest, highest }) },
    ...{ before: reliabilityOf(before), after: reliabilityOf(after) },
    gain: meanFall(before, after),
  };
}

interface Point {
  readonly raw: number;
  readonly calibrated: number;
}

/** A calibration fitted to scores of a range, and that in force below and above it, as far as scores do not fall then. */
function joined(
  fitted: Calibration,
  inForce: Calibration | undefined,
  { lowest, highest }: { readonly lowest: number; readonly highest: number },
): Calibration {
  const fit = (raw: number): Point => ({ raw, calibrated: calibratedScore(raw, fitted) });
  const known = (raw: number): Point => ({ raw, calibrated: calibratedScore(raw, inForce) });
  const [first, last] = [fit(lowest), fit(highest)];
  const old = inForce?.raw ?? [0, 100];
  const below = [...thinned(old.filter((raw) => raw < lowest - NEXT)), lowest - NEXT].map(known);
  const above = [highest + NEXT, ...thinned(old.filter((raw) => raw > highest + NEXT))].map(known);
  const points = [
    ...below.map(({ raw, calibrated }) => ({ raw, calibrated: Math.min(calibrated, first.calibrated) })),
    first,
    ...fitted.raw.filter((raw) => raw > lowest && raw < highest).map(fit),
    ...(highest > lowest ? [last] : []),
    ...above.map(({ raw, calibrated }) => ({ raw, calibrated: Math.max(calibrated, last.calibrated) })),
  ];
  return { raw: points.map(({ raw }) => raw), calibrated: points.map(({ calibrated }) => calibrated) };
}

/** Evenly chosen ones, both ends among them. */
function thinned(raw: readonly number[]): readonly number[] {
  if (raw.length <= MOST_KEPT) return raw;
  return Array.from({ length: MOST_KEPT }, (_, at) => raw[Math.round((at / (MOST_KEPT - 1)) * (raw.length - 1))] ?? 0);
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
