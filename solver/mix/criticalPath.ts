import type { MixCandidate } from "./problem";

/**
 * Seconds in which one call of a request runs while a longer path of calls runs too: the sum of all calls' times less the longest path
 * through them. 0 where calls follow one another. Times are means, so that the mean of the longest path, which varies by program, is
 * somewhat longer.
 *
 * @param secondsOfWork by model, seconds for a unit of work.
 */
export function parallelSeconds({ calls = [] }: Pick<MixCandidate, "calls">, secondsOfWork: readonly number[]): number {
  const ends: number[] = [];
  let sum = 0;
  for (const { work, reads } of calls) {
    const own = work.reduce((all, each, model) => (each === 0 ? all : all + each * (secondsOfWork[model] ?? 0)), 0);
    sum += own;
    ends.push(own + Math.max(0, ...reads.map((other) => ends[other] ?? 0)));
  }
  return sum - Math.max(0, ...ends);
}
