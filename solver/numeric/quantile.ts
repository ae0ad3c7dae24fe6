/**
 * Quantile by linear interpolation between order statistics (Hyndman and Fan 1996, type 7): position `q * (n - 1)` in the
 * sorted values. The only definition in Weir, so that predicted and measured p95 differ by their data only.
 *
 * @param values in any order; not changed. NaN is not allowed.
 * @param q 0..1, so 0.95 for p95.
 * @returns NaN when there are no values: the quantile of nothing is absent, not zero.
 */
export function quantile(values: ArrayLike<number>, q: number): number {
  const selected = new Float64Array(values);
  // Sorting all of them to read two costs several times as much.
  const below = Math.floor(q * (selected.length - 1));
  select(selected, below);
  let next = Number.POSITIVE_INFINITY;
  for (let at = below + 1; at < selected.length; at++) next = Math.min(next, selected[at] ?? 0);
  if (below + 1 < selected.length) selected[below + 1] = next;
  return quantileOfSorted(selected, q);
}

/** `quantile` of values that already ascend: for several quantiles of one sample. */
export function quantileOfSorted(sorted: ArrayLike<number>, q: number): number {
  if (!(q >= 0 && q <= 1)) throw new Error(`A quantile lies in 0..1, found ${q}`);
  const position = q * (sorted.length - 1);
  const below = Math.floor(position);
  const low = sorted[below];
  if (low === undefined) return Number.NaN;
  const high = sorted[below + 1];
  // Without a weight there is no interpolation, and adjacent infinities would give NaN.
  if (high === undefined || high === low || position === below) return low;
  return low + (high - low) * (position - below);
}

/** Moves the value of a rank to its sorted position, nothing larger before it and nothing smaller after it (Hoare's quickselect). */
function select(values: Float64Array, rank: number): void {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const pivot = values[(low + high) >> 1] ?? 0;
    let left = low;
    let right = high;
    while (left <= right) {
      while ((values[left] ?? 0) < pivot) left++;
      while ((values[right] ?? 0) > pivot) right--;
      if (left > right) break;
      const value = values[left] ?? 0;
      values[left++] = values[right] ?? 0;
      values[right--] = value;
    }
    if (rank <= right) high = right;
    else if (rank >= left) low = left;
    else return;
  }
}

/** Arithmetic mean; NaN when there are no values. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += values[at] ?? 0;
  return sum / values.length;
}
