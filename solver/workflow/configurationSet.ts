/** Sets of configurations as bits, 32 to a word: configuration c is bit c % 32 of word floor(c / 32). */

/** An empty set, for so many configurations. */
export const emptySet = (configurations: number): Uint32Array => new Uint32Array(Math.ceil(configurations / 32));

/** The full set of so many configurations. */
export function fullSet(configurations: number): Uint32Array {
  const set = emptySet(configurations).fill(0xffffffff);
  const rest = configurations % 32;
  if (rest > 0) set[set.length - 1] = 2 ** rest - 1;
  return set;
}

export const hasConfiguration = (set: Uint32Array, configuration: number): boolean =>
  ((set[configuration >>> 5] ?? 0) & (1 << (configuration & 31))) !== 0;

/** Adds one. */
export function addConfiguration(set: Uint32Array, configuration: number): void {
  set[configuration >>> 5] = (set[configuration >>> 5] ?? 0) | (1 << (configuration & 31));
}

/** Members of a set. */
export function countOf(set: Uint32Array): number {
  let count = 0;
  for (let at = 0; at < set.length; at += 1) count += bitsOf(set[at] ?? 0);
  return count;
}

/** Number of members that two sets of one length have in common. */
export function countInBoth(one: Uint32Array, other: Uint32Array): number {
  let count = 0;
  for (let at = 0; at < one.length; at += 1) count += bitsOf((one[at] ?? 0) & (other[at] ?? 0));
  return count;
}

/** Whether two sets of one length have a member in common. */
export function meet(one: Uint32Array, other: Uint32Array): boolean {
  for (let at = 0; at < one.length; at += 1) if (((one[at] ?? 0) & (other[at] ?? 0)) !== 0) return true;
  return false;
}

/** The intersection of two sets of one length. */
export const intersection = (one: Uint32Array, other: Uint32Array): Uint32Array => one.map((word, at) => word & (other[at] ?? 0));

/** Members, ascending. */
export function membersOf(set: Uint32Array): number[] {
  const members: number[] = [];
  for (let at = 0; at < set.length; at += 1) {
    for (let word = set[at] ?? 0; word !== 0; word &= word - 1) members.push(32 * at + 31 - Math.clz32(word & -word));
  }
  return members;
}

function bitsOf(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
