import { resampledCounts } from "@/solver/numeric/bootstrap";
import type { Interval } from "@/solver/numeric/interval";
import { quantile } from "@/solver/numeric/quantile";
import { mixSeed } from "@/solver/numeric/random";

/** Scores of answers, and the points that each would gain from the next model; parallel. */
interface Escalated {
  readonly scores: ArrayLike<number>;
  readonly gains: ArrayLike<number>;
}

/**
 * Points of quality that escalating the answers with the lowest scores gains over escalating as many at random. Answers with equal scores at
 * the bound are escalated in expectation over their order, so that every gate sends the same share on.
 *
 * @param share of the answers that are sent on, 0..1.
 * @returns the points with a bootstrap interval of 90 %; zeros without answers.
 */
export function overRandomEscalation(answers: Escalated, share: number, seed: number): Interval {
  const count = answers.scores.length;
  if (count === 0) return { value: 0, low: 0, high: 0 };
  const ascending = [...Array(count).keys()].sort((a, b) => (answers.scores[a] ?? 0) - (answers.scores[b] ?? 0));
  const points = (drawn: ArrayLike<number>): number => pointsOf(answers, ascending, { share, drawn });
  const resampled = Array.from(resampledCounts(count, mixSeed(seed, "escalation")), points);
  return { value: points(new Int32Array(count).fill(1)), low: quantile(resampled, 0.05), high: quantile(resampled, 0.95) };
}

/** The points where each answer counts as often as it was drawn. */
function pointsOf(
  { scores, gains }: Escalated,
  ascending: readonly number[],
  { share, drawn }: { readonly share: number; readonly drawn: ArrayLike<number> },
): number {
  let total = 0;
  let all = 0;
  for (const at of ascending) {
    total += (drawn[at] ?? 0) * (gains[at] ?? 0);
    all += drawn[at] ?? 0;
  }
  let room = share * all;
  let gained = 0;
  for (let from = 0; from < ascending.length && room > 0; ) {
    const score = scores[ascending[from] ?? 0];
    let [count, gain] = [0, 0];
    for (; from < ascending.length && scores[ascending[from] ?? 0] === score; from += 1) {
      const at = ascending[from] ?? 0;
      count += drawn[at] ?? 0;
      gain += (drawn[at] ?? 0) * (gains[at] ?? 0);
    }
    if (count === 0) continue;
    const taken = Math.min(1, room / count);
    gained += taken * gain;
    room -= count;
  }
  return (gained - share * total) / all;
}
