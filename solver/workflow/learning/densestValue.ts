/** Share of the probability, in steps, within which density is not looked at more closely: with less, chance decides where it is highest. */
const NARROWEST_STEPS = 4;

/**
 * Mode of a distribution by its quantiles: of all stretches with half of the probability the shortest, of those within it with a quarter again, and so on
 * down to an eighth (half-sample mode, Robertson and Cryer 1974), whose middle it is. Of equally short ones the most central.
 *
 * @param quantiles ascending, at 32 equal steps of probability.
 * @returns null where there are none.
 */
export function densestValue(quantiles: readonly number[]): number | null {
  if (quantiles.length === 0) return null;
  let first = 0;
  let steps = quantiles.length - 1;
  while (steps > NARROWEST_STEPS) {
    const half = steps >> 1;
    first = shortestStretch(quantiles, first, first + steps - half, half);
    steps = half;
  }
  return quantiles[first + (steps >> 1)] ?? null;
}

/** Where the shortest stretch of so many steps begins. */
function shortestStretch(quantiles: readonly number[], from: number, to: number, steps: number): number {
  const middle = (from + to) / 2;
  let best = from;
  let shortest = Number.POSITIVE_INFINITY;
  for (let at = from; at <= to; at += 1) {
    const length = (quantiles[at + steps] ?? 0) - (quantiles[at] ?? 0);
    if (length < shortest || (length === shortest && Math.abs(at - middle) < Math.abs(best - middle))) {
      best = at;
      shortest = length;
    }
  }
  return best;
}
