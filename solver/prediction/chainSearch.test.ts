import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasConfiguration, membersOf } from "@/solver/workflow/configurationSet";
import { type AskedHeads, searchChains, searchContext } from "./chainSearch";

const sizes = fc
  .array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 })
  .filter((each) => each.reduce((all, one) => all * one, 1) <= 729);

/** Which heads accept, by prompt; every head that a search evaluates is recorded. */
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

/** Monotone verdicts: accepted are the configurations above any of some. */
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
