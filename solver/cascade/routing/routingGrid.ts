import { quantile } from "@/solver/numeric/quantile";
import type { PlanningSample } from "./routing";

/**
 * Thresholds that differ in what they accept: the judged scores that occur, in 1..100, without the lowest, at which everything is
 * accepted. The upper of two adjacent scores represents all thresholds between them.
 */
export const usefulThresholds = (judged: Float64Array): number[] => occurringScores(judged).slice(1);

/** The judged scores that occur, rounded down to whole numbers, ascending: the highest thresholds that still accept them. */
export function occurringScores(judged: Float64Array): number[] {
  const occurs = new Uint8Array(102);
  for (const score of judged) occurs[Math.max(0, Math.min(101, Math.floor(score)))] = 1;
  const scores: number[] = [];
  for (let score = 0; score <= 100; score += 1) if (occurs[score] === 1) scores.push(score);
  return scores;
}

/**
 * Router scores, 1..100, that leave the same share of the prompts out of every stage of a cascade but the last: heads of different models
 * are confident to different degrees.
 *
 * @param level the share, 0..1.
 */
export const startsAtLevel = (
  { routerScore = [] }: Pick<PlanningSample, "routerScore">,
  stages: readonly number[],
  level: number,
): number[] => stages.slice(0, -1).map((model) => Math.min(100, Math.max(1, Math.ceil(quantile(routerScore[model] ?? [0], level)))));

/** Every cascade of the ladder: each non-empty subset of models, smallest first. */
export function orderedSubsets(models: number): number[][] {
  const subsets: number[][] = [];
  for (let mask = 1; mask < 2 ** models; mask += 1) {
    subsets.push(Array.from({ length: models }, (_, model) => model).filter((model) => Math.floor(mask / 2 ** model) % 2 === 1));
  }
  return subsets.sort((a, b) => a.length - b.length);
}

/** Every way to take one value of each list. */
export function product(lists: readonly (readonly number[])[]): number[][] {
  return lists.reduce<number[][]>((rows, list) => rows.flatMap((row) => list.map((value) => [...row, value])), [[]]);
}
