import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { minimalChains } from "./chainDecomposition";

/** Options of choices whose product is small enough for exhaustive checks. */
const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 6 }).filter((each) => product(each) <= 4096);
const product = (of: readonly number[]): number => of.reduce((all, one) => all * one, 1);

/** Digits of a configuration, the most significant first. */
function digitsOf(number: number, of: readonly number[]): number[] {
  const digits: number[] = [];
  let rest = number;
  for (const size of of.toReversed()) {
    digits.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return digits;
}

const rankOf = (number: number, of: readonly number[]): number => digitsOf(number, of).reduce((sum, digit) => sum + digit, 0);

/** Members of the largest level: a product of chains has no larger antichain (de Bruijn, Tengbergen and Kruyswijk). */
function widthOf(of: readonly number[]): number {
  const levels = new Map<number, number>();
  for (let number = 0; number < product(of); number++) levels.set(rankOf(number, of), (levels.get(rankOf(number, of)) ?? 0) + 1);
  return Math.max(...levels.values());
}

describe("a minimal chain decomposition", () => {
  it("has every configuration once, in as few chains as the largest antichain has members", () => {
    fc.assert(
      fc.property(sizes, (of) => {
        const chains = minimalChains(of);
        const members = chains.flatMap((chain) => [...chain]).sort((one, other) => one - other);
        expect(members).toEqual(Array.from({ length: product(of) }, (_, number) => number));
        expect(chains).toHaveLength(widthOf(of));
      }),
    );
  });

  it("steps up one choice by one option at a time, on chains that lie symmetrically about the middle", () => {
    fc.assert(
      fc.property(sizes, (of) => {
        const highest = of.reduce((sum, size) => sum + size - 1, 0);
        for (const chain of minimalChains(of)) {
          for (let at = 1; at < chain.length; at++) {
            const [from, to] = [digitsOf(chain[at - 1]!, of), digitsOf(chain[at]!, of)];
            expect(to.map((digit, choice) => digit - from[choice]!).filter((step) => step !== 0)).toEqual([1]);
          }
          expect(rankOf(chain[0]!, of) + rankOf(chain.at(-1)!, of)).toBe(highest);
        }
      }),
    );
  });

  it("has the longest chain first, from the smallest models throughout to the largest", () => {
    fc.assert(
      fc.property(sizes, (of) => {
        const lengths = minimalChains(of).map(({ length }) => length);
        expect(lengths).toEqual(lengths.toSorted((one, other) => other - one));
        expect([minimalChains(of)[0]![0], minimalChains(of)[0]!.at(-1)]).toEqual([0, product(of) - 1]);
      }),
    );
  });

  it("takes 51 chains for five agents of three models and 1,107 for eight", () => {
    expect([5, 8].map((agents) => minimalChains(Array.from({ length: agents }, () => 3)).length)).toEqual([51, 1107]);
  });
});
