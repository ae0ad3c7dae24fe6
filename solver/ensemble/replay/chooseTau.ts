import type { Interval } from "@/solver/numeric/interval";
import { AGGREGATE_ALL } from "../gate/ensembleDocument";
import { type GatePoint, gatePoints, isSkipped, type ReplayedQuestion, skippingWorth } from "./gatePoints";

/** Accuracy points are hundredths. */
const POINT = 0.01;

/**
 * The lowest tau that costs at most so many points of accuracy relative to always aggregating, at 90 % confidence. Taus are tried from the
 * strictest down until the first that may cost more, so that the number of tries does not produce a lucky one: the probability that the
 * chosen one costs more stays below 5 %.
 *
 * @param points ascending, from `gatePoints`.
 * @returns null where there is no such tau, or no aggregator.
 */
export function chooseTau(points: readonly GatePoint[], allowedPoints: number): number | null {
  let chosen: number | null = null;
  for (const { tau, difference } of points.toReversed()) {
    if (tau > 1) continue;
    if (difference === null || difference.low < -allowedPoints * POINT) break;
    chosen = tau;
  }
  return chosen;
}

/** The result of a chosen tau on held-out questions. */
export interface HeldOutChoice extends Pick<GatePoint, "skipped" | "accuracy" | "aggregatorTokens"> {
  readonly difference: Interval;
  /** The choices on either half; null: always aggregated. */
  readonly taus: readonly (number | null)[];
}

/**
 * Chooses on either half of the questions, evaluates on the other, and pools both; null without an aggregator or without questions in a
 * half.
 */
export function heldOutChoice(questions: readonly ReplayedQuestion[], allowedPoints: number): HeldOutChoice | null {
  const halves = [0, 1].map((half) => questions.filter((question) => question.half === half));
  if (halves.some((half) => half.length === 0)) return null;
  const taus = halves.map((half) => chooseTau(gatePoints(half), allowedPoints));
  const worth = skippingWorth(questions, (question) => isSkipped(question, taus[1 - question.half] ?? AGGREGATE_ALL));
  return worth.difference && { ...worth, taus, difference: worth.difference };
}
