import { emptySet } from "@/solver/workflow/configurationSet";

/** The order of configurations by size of their models: the sets below and above one, as bits of `configurationSet.ts`. */
export interface ConfigurationOrder {
  readonly size: number;
  /** Adds a configuration and all that have no larger model anywhere to a set. */
  addBelow(set: Uint32Array, configuration: number): void;
  /** Adds a configuration and all that have no smaller model anywhere to a set. */
  addAbove(set: Uint32Array, configuration: number): void;
}

/**
 * The order of a product of choices of so many options each, numbered as `configurationSpace` numbers it. Sets of those at most, and at
 * least, as large are stored for both halves of the choices, so that the set below a configuration is the intersection of two sets.
 */
export function configurationOrder(sizes: readonly number[]): ConfigurationOrder {
  const size = product(sizes);
  const middle = Math.ceil(sizes.length / 2);
  const later = product(sizes.slice(middle));
  const halves = [
    { from: 0, to: middle, members: size / later, memberOf: (number: number) => Math.floor(number / later) },
    { from: middle, to: sizes.length, members: later, memberOf: (number: number) => number % later },
  ].map(({ from, to, members, memberOf }) => {
    const own = sizes.slice(from, to);
    const digits = Array.from({ length: members }, (_, member) => digitsOf(member, own));
    const sets = (isIn: (digit: number, than: number) => boolean): readonly Uint32Array[] =>
      digits.map((than) => {
        const inside = digits.map((of) => of.every((digit, at) => isIn(digit, than[at] ?? 0)));
        const set = emptySet(size);
        for (let number = 0; number < size; number++) {
          if (inside[memberOf(number)] === true) set[number >>> 5] = (set[number >>> 5] ?? 0) | (1 << (number & 31));
        }
        return set;
      });
    return { memberOf, below: sets((digit, than) => digit <= than), above: sets((digit, than) => digit >= than) };
  });
  const [first, second] = halves;
  const none = emptySet(size);
  return {
    size,
    addBelow(set, configuration) {
      const one = first?.below[first.memberOf(configuration)] ?? none;
      const other = second?.below[second.memberOf(configuration)] ?? none;
      // A configuration with smaller models throughout has a smaller number.
      for (let at = configuration >>> 5; at >= 0; at--) set[at] = (set[at] ?? 0) | ((one[at] ?? 0) & (other[at] ?? 0));
    },
    addAbove(set, configuration) {
      const one = first?.above[first.memberOf(configuration)] ?? none;
      const other = second?.above[second.memberOf(configuration)] ?? none;
      for (let at = configuration >>> 5; at < set.length; at++) set[at] = (set[at] ?? 0) | ((one[at] ?? 0) & (other[at] ?? 0));
    },
  };
}

const product = (sizes: readonly number[]): number => sizes.reduce((all, one) => all * one, 1);

function digitsOf(number: number, sizes: readonly number[]): readonly number[] {
  const digits: number[] = [];
  let rest = number;
  for (const size of sizes.toReversed()) {
    digits.push(rest % size);
    rest = Math.floor(rest / size);
  }
  return digits.reverse();
}
