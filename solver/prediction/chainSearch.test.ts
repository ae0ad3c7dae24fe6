import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasConfiguration, membersOf } from "@/solver/workflow/configurationSet";
import { type AskedHeads, minimalChains, searchChains, searchContext } from "./chainSearch";

const sizes = fc
  .array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 })
  .filter((each) => each.reduce((all, one) => all * one, 1) <= 729);

/** Which heads accept, by prompt; every head that a search asks for is noted. */
function heads(accepts: readonly (readonly boolean[])[]) {
  const asked: number[][] = accepts.map(() => []);
  return {
    asked,
    evaluate({ prompt, configuration }: AskedHeads): Uint8Array {
      return Uint8Array.from(prompt, (of, at) => {
        asked[of]!.push(configuration[at]!);
        return accepts[of]![configuration[at]!] ? 1 : 0;
      });
    },
  };
}

const spaceOf = fc.integer({ min: 1, max: 3 }).chain((prompts) =>
  sizes.chain((of) => {
    const size = of.reduce((all, one) => all * one, 1);
    const verdicts = fc.array(fc.boolean(), { minLength: size, maxLength: size });
    return fc.record({ of: fc.constant(of), accepts: fc.array(verdicts, { minLength: prompts, maxLength: prompts }) });
  }),
);

/** Verdicts that rise: accepted are those above any of some. */
const rising = fc.record({ of: sizes, seeds: fc.array(fc.nat(), { maxLength: 5 }) }).map(({ of, seeds }) => {
  const { order } = searchContext(of);
  const set = new Uint32Array(Math.ceil(order.size / 32));
  for (const seed of [...seeds, order.size - 1]) order.addAbove(set, seed % order.size);
  return { of, accepts: Array.from({ length: order.size }, (_, configuration) => hasConfiguration(set, configuration)) };
});

describe("the search of chains", () => {
  it("accepts only what its own head accepts, whatever heads say, asks each once at most, and never for the largest models", () => {
    fc.assert(
      fc.property(spaceOf, ({ of, accepts }) => {
        const { asked, evaluate } = heads(accepts);
        const found = searchChains(searchContext(of), accepts.length, evaluate);
        for (const [prompt, { accurate, evaluated, whole }] of found.entries()) {
          const largest = accepts[prompt]!.length - 1;
          expect(whole).toBe(true);
          expect(membersOf(accurate).filter((configuration) => configuration !== largest && !accepts[prompt]![configuration])).toEqual([]);
          expect(hasConfiguration(accurate, largest)).toBe(true);
          expect(evaluated).toBe(asked[prompt]!.length);
          expect(new Set(asked[prompt]).size).toBe(evaluated);
          expect(asked[prompt]).not.toContain(largest);
          expect(membersOf(accurate).every((one) => one === largest || asked[prompt]!.includes(one))).toBe(true);
        }
      }),
    );
  });

  it("finds all that heads accept where larger models are never worse", () => {
    fc.assert(
      fc.property(rising, ({ of, accepts }) => {
        const [found] = searchChains(searchContext(of), 1, heads([accepts]).evaluate);
        expect(membersOf(found!.accurate)).toEqual(Array.from(accepts.keys()).filter((configuration) => accepts[configuration]));
      }),
    );
  });

  it("finds the same for a prompt whether it is searched alone or among others", () => {
    fc.assert(
      fc.property(spaceOf, ({ of, accepts }) => {
        const ground = searchContext(of);
        const together = searchChains(ground, accepts.length, heads(accepts).evaluate);
        const alone = accepts.flatMap((own) => searchChains(ground, 1, heads([own]).evaluate));
        expect(together).toEqual(alone);
      }),
      { numRuns: 50 },
    );
  });

  it("keeps what was verified when its time ends, and evaluates nothing after", () => {
    fc.assert(
      fc.property(rising, fc.nat({ max: 12 }), ({ of, accepts }, rounds) => {
        const { asked, evaluate } = heads([accepts]);
        let left = rounds;
        const [found] = searchChains(searchContext(of), 1, evaluate, () => (left-- > 0 ? Number.POSITIVE_INFINITY : 0));
        const largest = accepts.length - 1;
        expect(membersOf(found!.accurate)).toEqual(
          [...new Set([...asked[0]!.filter((one) => accepts[one]), largest])].sort((a, b) => a - b),
        );
        const [all] = searchChains(searchContext(of), 1, heads([accepts]).evaluate);
        if (found!.whole) expect(found).toEqual(all);
        else expect(found!.evaluated).toBeLessThanOrEqual(all!.evaluated);
        if (rounds === 0) expect(found!.evaluated).toBe(0);
      }),
    );
  });

  it("asks for no more heads in a round than it may, and finds the same however few they are", () => {
    fc.assert(
      fc.property(rising, fc.integer({ min: 1, max: 9 }), ({ of, accepts }, allowed) => {
        const { evaluate } = heads([accepts]);
        let most = 0;
        const counted: typeof evaluate = (asked) => {
          most = Math.max(most, asked.configuration.length);
          return evaluate(asked);
        };
        const [found] = searchChains(searchContext(of), 1, counted, () => allowed);
        expect(most).toBeLessThanOrEqual(allowed);
        expect(found!.whole).toBe(true);
        expect(found!.accurate).toEqual(searchChains(searchContext(of), 1, heads([accepts]).evaluate)[0]!.accurate);
      }),
    );
  });

  it("never evaluates most of the heads that would reject, where a third of five agents' configurations is accepted", () => {
    const of = [3, 3, 3, 3, 3];
    const { order } = searchContext(of);
    const accepted = new Uint32Array(8);
    // Two of the agents have the largest model, or four a middle one.
    for (const configuration of [8, 24, 72, 216, 80, 1 + 3 + 9 + 27]) order.addAbove(accepted, configuration);
    const accepts = Array.from({ length: 243 }, (_, configuration) => hasConfiguration(accepted, configuration));
    const { asked, evaluate } = heads([accepts]);
    searchChains(searchContext(of), 1, evaluate);
    const rejecting = accepts.filter((accepting) => !accepting).length;
    const evaluated = asked[0]!.filter((configuration) => !accepts[configuration]).length;
    expect(rejecting).toBeGreaterThan(60);
    expect(evaluated).toBeLessThan(rejecting / 2);
  });
});

/** Options of choices whose product is small enough to be looked at whole. */
const smallSizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 6 }).filter((each) => product(each) <= 4096);
const product = (of: readonly number[]): number => of.reduce((all, one) => all * one, 1);

/** Digits of a configuration, the first the most significant. */
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
      fc.property(smallSizes, (of) => {
        const chains = minimalChains(of);
        const members = chains.flatMap((chain) => [...chain]).sort((one, other) => one - other);
        expect(members).toEqual(Array.from({ length: product(of) }, (_, number) => number));
        expect(chains).toHaveLength(widthOf(of));
      }),
    );
  });

  it("steps up one choice by one option at a time, on chains that lie symmetrically about the middle", () => {
    fc.assert(
      fc.property(smallSizes, (of) => {
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
      fc.property(smallSizes, (of) => {
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
