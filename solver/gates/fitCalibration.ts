import type { LabelledScore } from "@/solver/judging/pairCounts";
import { type IsotonicBlock, isotonicBlocks } from "@/solver/numeric/isotonic";
import type { Calibration } from "./gateDocument";

/** Groups of neighbouring scores that the regression reads, so that a calibration of many different scores stays small. */
const MOST_GROUPS = 128;

/** Labelled answers below which an isotonic fit follows their noise: its blocks would hold a few answers each. */
const LEAST_CALIBRATING_LABELS = 30;

/**
 * The calibration of a gate's raw scores on labelled answers: the quality, 0..100, that answers of a score have. Isotonic regression (pool
 * adjacent violators; Zadrozny and Elkan, KDD 2002), each block at the mean of its raw scores and linear between blocks (centred isotonic
 * regression: Oron and Flournoy, Statistics in Biopharmaceutical Research 9, 2017), so that scores of two blocks stay apart between them.
 *
 * @param answers raw scores and labels, both 0..100.
 * @returns null below 30 answers.
 */
export function fitCalibration(answers: readonly LabelledScore[]): Calibration | null {
  if (answers.length < LEAST_CALIBRATING_LABELS) return null;
  const blocks = isotonicBlocks(scoreGroups(answers));
  const [first] = blocks;
  // One block is a constant, which takes two points to write.
  const points = blocks.length === 1 && first !== undefined ? [0, 100].map((at) => ({ ...first, at })) : blocks;
  return {
    raw: points.map(({ at }) => at),
    calibrated: points.map(({ value }) => Math.max(0, Math.min(100, value))),
  };
}

/** Mean label by score; of many different scores, neighbouring ones in groups of about equal size. */
function scoreGroups(answers: readonly LabelledScore[]): readonly IsotonicBlock[] {
  const ascending = answers.toSorted((a, b) => a.score - b.score);
  const least = ascending.length / MOST_GROUPS;
  const groups: { at: number; value: number; weight: number }[] = [];
  let last = Number.NaN;
  for (const { score, label } of ascending) {
    const group = groups.at(-1);
    const joins = group !== undefined && (score === last || group.weight < least);
    last = score;
    if (!joins) groups.push({ at: score, value: label, weight: 1 });
    else {
      group.weight += 1;
      group.at += (score - group.at) / group.weight;
      group.value += (label - group.value) / group.weight;
    }
  }
  return groups;
}
