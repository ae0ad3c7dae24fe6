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

/** Margins are stored in one byte each, in these steps of a logit. */
const STEP = 1 / 16;
const MOST_STEPS = 127;

/** A smaller shift of a logit changes no margin. */
export const LEAST_SHIFT = STEP / 2;

/** All that scores may shift a margin by, in steps: a configuration whose margin is at the end of the range is surer than any score. */
const MOST_SHIFT = 120;

/**
 * By how much the logit of each configuration exceeds the least that counts as accurate, by number, as one byte in sixteenths: rounded down,
 * so that none below that least appears to reach it. The last, of the largest models, has no head: it is accurate by definition, and
 * has the highest.
 *
 * @param logits of the heads, one for each configuration but the last.
 */
export function configurationMargins(logits: ArrayLike<number>, least: number): Int8Array {
  const margins = new Int8Array(logits.length + 1).fill(MOST_STEPS);
  for (let head = 0; head < logits.length; head += 1) {
    const steps = Math.floor(((logits[head] ?? Number.NEGATIVE_INFINITY) - least) / STEP);
    margins[head] = Number.isNaN(steps) ? -MOST_STEPS : Math.max(-MOST_STEPS, Math.min(MOST_STEPS, steps));
  }
  return margins;
}

interface Shifted {
  /** What was found accurate before any score. */
  readonly accurate: Uint32Array;
  readonly margins: Int8Array;
  /** Change of all log odds by scores so far; less than half a step, 1/32, is none. */
  readonly shift: number;
  /** Configurations that agree with what was done; at least one. */
  readonly agreeing: Uint32Array;
}

/**
 * The agreeing configurations that still count as accurate after scores, a set of `configurationSet.ts`: where all log odds fell, those of the
 * accurate that keep their margin; where they rose, those that reach it now besides. Where none reaches it any more, not even with the largest
 * models in all that is left, dearer models would cost more and not reach it either: then those found before the scores count, or, where
 * none of them agrees, the surest that does, of equals that of the largest models. But for that, a higher shift never gives fewer.
 */
export function accurateAfter({ accurate, margins, shift, agreeing }: Shifted): Uint32Array {
  const steps = Math.max(-MOST_SHIFT, Math.min(MOST_SHIFT, Math.round(shift / STEP)));
  const found = intersection(accurate, agreeing);
  const isKnown = countOf(found) > 0;
  if (steps === 0 && isKnown) return found;
  const reached = emptySet(margins.length);
  let best = -1;
  for (const configuration of membersOf(agreeing)) {
    const margin = margins[configuration] ?? -MOST_STEPS;
    if (best < 0 || margin >= (margins[best] ?? -MOST_STEPS)) best = configuration;
    const wasFound = hasConfiguration(found, configuration);
    const reaches = steps !== 0 && margin + steps >= 0;
    if (steps > 0 ? wasFound || reaches : wasFound && reaches) addConfiguration(reached, configuration);
  }
  if (countOf(reached) > 0) return reached;
  if (isKnown) return found;
  if (best >= 0) addConfiguration(reached, best);
  return reached;
}
