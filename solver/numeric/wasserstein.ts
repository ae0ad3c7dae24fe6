/**
 * 1-Wasserstein (earth mover's) distance between two samples, each with equal weights: the integral of the difference between
 * their distribution functions, exact for any sizes, in the unit of the values. A sample shifted by c is |c| away from itself.
 *
 * @param a ascending, finite. @param b ascending, finite.
 * @returns NaN when either is empty: the distance from nothing is absent, not zero.
 */
export function wassersteinOfSorted(a: ArrayLike<number>, b: ArrayLike<number>): number {
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

/** `wassersteinOfSorted` of values in any order; they are not changed. */
export const wasserstein = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  wassersteinOfSorted(Float64Array.from(a).sort(), Float64Array.from(b).sort());
