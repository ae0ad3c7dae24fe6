import type { LabelledScore } from "@/solver/judging/pairCounts";

/** Answers whose scores are within a tenth of the scale. */
export interface ReliabilityBin {
  /** Scores from here to below `to`; the last bin includes 100. */
  readonly from: number;
  readonly to: number;
  readonly answers: number;
  /** Means over the bin, 0..100: a calibrated gate has both equal. */
  readonly score: number;
  readonly quality: number;
}

const BINS = 10;

/** The reliability diagram of scores: mean quality beside mean score in each tenth of the scale that has answers. */
export function reliabilityBins(answers: readonly LabelledScore[]): readonly ReliabilityBin[] {
  const width = 100 / BINS;
  const bins = Array.from({ length: BINS }, (_, at) => ({ from: at * width, to: (at + 1) * width, answers: 0, score: 0, quality: 0 }));
  for (const { score, label } of answers) {
    const bin = bins[Math.min(BINS - 1, Math.floor(score / width))];
    if (bin === undefined) continue;
    bin.answers += 1;
    bin.score += (score - bin.score) / bin.answers;
    bin.quality += (label - bin.quality) / bin.answers;
  }
  return bins.filter(({ answers: count }) => count > 0);
}

/**
 * Expected calibration error in points, 0..100: the mean distance between score and quality over the bins of the reliability diagram,
 * weighted by their answers (Guo et al., "On Calibration of Modern Neural Networks", equation 3); NaN without answers.
 */
export function expectedCalibrationError(answers: readonly LabelledScore[]): number {
  const bins = reliabilityBins(answers);
  return bins.reduce((sum, { answers: count, score, quality }) => sum + count * Math.abs(score - quality), 0) / answers.length;
}
