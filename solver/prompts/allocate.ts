/**
 * Shares a sample out over strata in proportion to their counts, by largest remainders: at least one for each stratum that has any
 * where the size allows, never more than there are, and `min(size, sum of counts)` in all. Ties go to the earlier stratum.
 */
export function allocate(counts: readonly number[], size: number): readonly number[] {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const shares = counts.map(() => 0);
  let left = Math.min(size, total);
  let filled = counts.flatMap((count, at) => (count > 0 ? [{ at, count }] : []));
  if (left >= filled.length) {
    // Those whose share is below one get one; that leaves less for the others, of which some may then be below one.
    for (let changed = true; changed; ) {
      const rest = filled.reduce((sum, { count }) => sum + count, 0);
      const small = filled.filter(({ count }) => count * left < rest);
      for (const { at } of small) shares[at] = 1;
      filled = filled.filter(({ count }) => count * left >= rest);
      left -= small.length;
      changed = small.length > 0;
    }
  }
  const rest = filled.reduce((sum, { count }) => sum + count, 0);
  const parts = filled.map(({ at, count }) => ({ at, whole: Math.floor((count * left) / rest), remainder: (count * left) % rest }));
  let toGive = left - parts.reduce((sum, { whole }) => sum + whole, 0);
  for (const { at, whole } of parts.sort((a, b) => b.remainder - a.remainder || a.at - b.at)) {
    shares[at] = whole + (toGive > 0 ? 1 : 0);
    toGive -= 1;
  }
  return shares;
}
