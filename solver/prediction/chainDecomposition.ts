/**
 * A product of chains cut into as few chains as its largest antichain has members, by the hooks of de Bruijn, Tengbergen and Kruyswijk (Nieuw
 * Archief voor Wiskunde 23, 1951): of the grid of a chain and a new choice, hook i goes along the chain at the choice's option i up to i members
 * before its end, and from there up through the choice's other options. Every chain steps up one choice by one option at a time.
 *
 * @param sizes options of every choice, each at least 1.
 * @returns chains of configurations by number, smallest first, numbered as `configurationSpace` numbers them: the first choice is the most
 * significant digit. The longest chain comes first.
 */
export function minimalChains(sizes: readonly number[]): readonly Int32Array[] {
  let chains: readonly number[][] = [[0]];
  for (const size of sizes) chains = chains.flatMap((chain) => hooks(chain, size));
  return chains.map((chain) => Int32Array.from(chain)).sort((one, other) => other.length - one.length);
}

/** The grid of a chain and a new, least significant digit, in hooks. */
function hooks(chain: readonly number[], size: number): readonly number[][] {
  return Array.from({ length: Math.min(chain.length, size) }, (_, option) => {
    const along = chain.slice(0, chain.length - option).map((number) => number * size + option);
    const end = along[along.length - 1] ?? 0;
    return [...along, ...Array.from({ length: size - 1 - option }, (__, up) => end + 1 + up)];
  });
}
