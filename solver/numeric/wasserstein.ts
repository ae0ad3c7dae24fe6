/**
 * 1-Wasserstein (earth mover's) distance between two samples, each with equal weights: the integral of the difference between
 * their distribution functions, exact for any sizes, in the unit of the values. A sample shifted by c is |c| away from itself.
 *
 * @param a ascending, finite. @param b ascending, finite.
 * @returns NaN when either is empty: the distance from nothing is absent, not zero.
 */
export function wassersteinOfSamples(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const [countA, countB] = [a.length, b.length];
  if (countA === 0 || countB === 0) return Number.NaN;
  let distance = 0;
  let i = 0;
  let j = 0;
  let previous = Math.min(a[0] ?? 0, b[0] ?? 0);
  while (i < countA || j < countB) {
    const nextA = i < countA ? (a[i] ?? 0) : Number.POSITIVE_INFINITY;
    const nextB = j < countB ? (b[j] ?? 0) : Number.POSITIVE_INFINITY;
    const next = Math.min(nextA, nextB);
    distance += Math.abs(i / countA - j / countB) * (next - previous);
    previous = next;
    if (nextA <= nextB) i += 1;
    else j += 1;
  }
  return distance;
}

/** `wassersteinOfSamples` of values in any order; they are not changed. */
export const wasserstein = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  wassersteinOfSamples(Float64Array.from(a).sort(), Float64Array.from(b).sort());

/**
 * 1-Wasserstein distance between two distributions given by their quantiles at the same equal steps of probability, from minimum to
 * maximum: the integral over probability of the distance of the quantiles, by the trapezoidal rule. Exact where quantile functions are
 * linear between the steps and do not cross there, else too large by the area of the crossing. Still a metric on such quantiles.
 *
 * @returns NaN without quantiles.
 * @throws RangeError where one has more quantiles than the other.
 */
export function wassersteinOfQuantiles(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) throw new RangeError(`Quantiles are compared step by step, found ${a.length} and ${b.length}`);
  const steps = a.length - 1;
  if (steps < 1) return Math.abs((a[0] ?? Number.NaN) - (b[0] ?? Number.NaN));
  let sum = (Math.abs((a[0] ?? 0) - (b[0] ?? 0)) + Math.abs((a[steps] ?? 0) - (b[steps] ?? 0))) / 2;
  for (let at = 1; at < steps; at += 1) sum += Math.abs((a[at] ?? 0) - (b[at] ?? 0));
  return sum / steps;
}
