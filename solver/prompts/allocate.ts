import { mixSeed, type Random, seededRandom } from "@/solver/numeric/random";

/**
 * Divides a sample of `min(size, total)` over strata in proportion to their counts. Each gets its proportion rounded down or
 * up, at random and so that the expected share is the proportion: every counted item has the same probability of selection,
 * however small its stratum, and the expected plain mean of the sample is that of the whole. A stratum whose proportion is below one may
 * get none. Strata are processed by name, which leaves little to chance for adjacent ones together, such as those of one category.
 *
 * Rounds by the pivotal method (Deville and Tillé, Unequal probability sampling without replacement through a splitting method, 1998).
 * The same counts, size and seed give the same shares, in whatever order the counts come.
 */
export function allocate(counts: ReadonlyMap<string, number>, size: number, seed: number): ReadonlyMap<string, number> {
  const strata = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  const population = strata.reduce((sum, [, count]) => sum + count, 0);
  const wanted = Math.min(size, population);
  const whole = Math.max(1, population);
  const ups = roundUp(
    strata.map(([, count]) => (count * wanted) % whole),
    whole,
    seededRandom(mixSeed(seed, "shares")),
  );
  const shares = new Map(strata.map(([name, count], at) => [name, Math.floor((count * wanted) / whole) + (ups.has(at) ? 1 : 0)]));
  return new Map([...counts.keys()].map((name) => [name, shares.get(name) ?? 0]));
}

/**
 * Which parts of a whole are rounded up, each with probability equal to its part; the parts' sum is a multiple of the whole, and that many
 * are. Each part in turn meets the previous one that is still open. While both together are less than a whole, one of them takes the
 * other's part; otherwise one is rounded up and the excess goes to the other.
 */
function roundUp(parts: readonly number[], whole: number, random: Random): ReadonlySet<number> {
  const up = new Set<number>();
  let open = { at: -1, part: 0 };
  parts.forEach((part, at) => {
    const sum = open.part + part;
    if (sum < whole) {
      open = { at: random.int(sum) < part ? at : open.at, part: sum };
      return;
    }
    const isOpenUp = random.int(2 * whole - sum) < whole - part;
    up.add(isOpenUp ? open.at : at);
    open = { at: isOpenUp ? at : open.at, part: sum - whole };
  });
  return up;
}
