import type { Calibration } from "@/solver/gates/gateDocument";
import { calibratedScore } from "@/solver/gates/gates";
import type { StageAnswers } from "@/solver/tournament/gateSignal";
import type { PromptSplit } from "@/solver/workload/split";

/** What a threshold serves: the share of answers sent on, 0..1, and the mean quality, 0..100. */
interface Served {
  readonly share: number;
  readonly quality: number;
}

/**
 * The lowest threshold with which the planning prompts reach a floor, and what it serves on the held-out ones; null: sending all on does not
 * reach it.
 */
export function heldFloor(
  answers: StageAnswers,
  { raw, calibration, split, floor }: { raw: Float64Array; calibration: Calibration | null; split: PromptSplit; floor: number },
): Served | null {
  const scores = raw.map((score) => calibratedScore(score, calibration ?? undefined));
  const thresholds = [...new Set(Array.from(split.planning, (row) => scores[row] ?? 0)), 101].sort((a, b) => a - b);
  const serve = (rows: Int32Array, threshold: number): Served => {
    let [sent, quality] = [0, 0];
    for (const row of rows) {
      const isSent = (scores[row] ?? 0) < threshold;
      sent += isSent ? 1 : 0;
      quality += (isSent ? answers.nextLabel[row] : answers.label[row]) ?? 0;
    }
    return { share: sent / rows.length, quality: quality / rows.length };
  };
  const chosen = thresholds.find((threshold) => serve(split.planning, threshold).quality >= floor);
  return chosen === undefined ? null : serve(split.heldOut, chosen);
}
