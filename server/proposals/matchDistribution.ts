import { seededRandom } from "@/solver/numeric/random";

/** Fewer values are no distribution. */
const LEAST_VALUES = 50;

/**
 * A column whose values on some rows take the distribution that was seen, each row at the rank it had; the other rows follow the same curve. Equal
 * values are told apart by chance, so that what was seen of them keeps its spread.
 *
 * @returns null for fewer than 50 values seen, or no row.
 */
export function matchDistribution(
  column: ArrayLike<number>,
  rows: readonly number[],
  { seen, seed }: { readonly seen: readonly number[]; readonly seed: number },
): Float64Array | null {
  if (seen.length < LEAST_VALUES || rows.length === 0) return null;
  const random = seededRandom(seed);
  const sortedSeen = Float64Array.from(seen).sort();
  const order = rows
    .map((row) => ({ row, value: column[row] ?? 0, chance: random.next() }))
    .sort((a, b) => a.value - b.value || a.chance - b.chance);
  const at = (share: number): number => sortedSeen[Math.min(sortedSeen.length - 1, Math.floor(share * sortedSeen.length))] ?? 0;
  const values = order.map(({ value }) => value);
  const made = Float64Array.from(column, (value) => at((below(values, value) + below(values, value, true)) / (2 * values.length)));
  for (const [rank, { row }] of order.entries()) made[row] = at((rank + 0.5) / order.length);
  return made;
}

/** How many of the ascending values are below one, or not above it. */
function below(sorted: readonly number[], value: number, orEqual = false): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const one = sorted[middle] ?? 0;
    if (one < value || (orEqual && one === value)) from = middle + 1;
    else to = middle;
  }
  return from;
}
