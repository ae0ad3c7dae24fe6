/** Neighbouring values that isotonic regression makes equal. */
export interface IsotonicBlock {
  /** Weighted mean of the block's positions. */
  readonly at: number;
  readonly value: number;
  readonly weight: number;
}

/**
 * Isotonic regression: the never-falling values with the least weighted squared distance from the given ones, by the pool adjacent violators
 * algorithm (Barlow, Bartholomew, Bremner and Brunk 1972).
 *
 * @param points with ascending `at` and positive weights.
 * @returns blocks with ascending `at` and strictly ascending values.
 */
export function isotonicBlocks(points: readonly IsotonicBlock[]): readonly IsotonicBlock[] {
  const blocks: IsotonicBlock[] = [];
  for (const point of points) {
    let last = point;
    for (let before = blocks.at(-1); before !== undefined && before.value >= last.value; before = blocks.at(-1)) {
      blocks.pop();
      last = pooled(before, last);
    }
    blocks.push(last);
  }
  return blocks;
}

function pooled(one: IsotonicBlock, other: IsotonicBlock): IsotonicBlock {
  const weight = one.weight + other.weight;
  const mean = (a: number, b: number): number => a + ((b - a) * other.weight) / weight;
  return { at: mean(one.at, other.at), value: mean(one.value, other.value), weight };
}
