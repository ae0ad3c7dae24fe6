import * as fc from "fast-check";
import { expect, it } from "vitest";
import {
  accurateAfter,
  addConfiguration,
  configurationMargins,
  countOf,
  emptySet,
  hasConfiguration,
  intersection,
  membersOf,
} from "./configurationSet";

const SIZE = 40;
const logits = fc.array(fc.double({ min: -20, max: 20, noNaN: true }), { minLength: SIZE - 1, maxLength: SIZE - 1 });
const members = fc.array(fc.nat(SIZE - 1), { minLength: 1 });
const shift = fc.double({ min: -30, max: 30, noNaN: true });
const setOf = (of: readonly number[]): Uint32Array => {
  const set = emptySet(SIZE);
  for (const configuration of of) addConfiguration(set, configuration);
  return set;
};

/** What a search finds: some of those that their heads accept, and the last. */
const found = (heads: readonly number[], missed: readonly number[]): Uint32Array =>
  setOf([...heads.keys(), SIZE - 1].filter((at) => at === SIZE - 1 || ((heads[at] ?? 0) >= 0 && !missed.includes(at))));

it("without a shift the accurate ones that agree count, as they were found", () => {
  fc.assert(
    fc.property(logits, members, members, (heads, missed, agree) => {
      const [accurate, agreeing, margins] = [found(heads, missed), setOf(agree), configurationMargins(heads, 0)];
      const both = intersection(accurate, agreeing);
      fc.pre(countOf(both) > 0);
      expect(accurateAfter({ accurate, margins, shift: 0, agreeing })).toEqual(both);
    }),
  );
});

it("a higher shift never gives fewer, but for where none is left, and only those that agree", () => {
  fc.assert(
    fc.property(logits, members, members, fc.tuple(shift, shift), (heads, missed, agree, shifts) => {
      const [accurate, agreeing, margins] = [found(heads, missed), setOf(agree), configurationMargins(heads, 0)];
      const [low, high] = [Math.min(...shifts), Math.max(...shifts)].map((own) =>
        accurateAfter({ accurate, margins, shift: own, agreeing }),
      ) as [Uint32Array, Uint32Array];
      expect(countOf(low)).toBeGreaterThan(0);
      expect(intersection(high, agreeing)).toEqual(high);
      const isLeft = membersOf(agreeing).some((at) => hasConfiguration(accurate, at) && margins[at]! + 16 * Math.min(...shifts) >= 1);
      if (isLeft) expect(intersection(high, low)).toEqual(low);
    }),
  );
});

it("a shift of less than half a step changes nothing, not even where a search missed some that their heads accept", () => {
  const margins = configurationMargins([0, 3, -1], 0);
  const agreeing = Uint32Array.of(0b1111);
  for (const shift of [-0.03, 1e-12, 0.03])
    expect(accurateAfter({ accurate: Uint32Array.of(0b1001), margins, shift, agreeing })).toEqual(Uint32Array.of(0b1001));
});

it("where none is left, those found before count, and where none of these agrees the surest that does", () => {
  const margins = configurationMargins([0.5, 1, -2], 0);
  const accurate = Uint32Array.of(0b1011);
  const after = (shift: number, agreeing: number) => accurateAfter({ accurate, margins, shift, agreeing: Uint32Array.of(agreeing) });
  expect(after(-0.75, 0b0011)).toEqual(Uint32Array.of(0b0010));
  expect(after(-2, 0b0011)).toEqual(Uint32Array.of(0b0011));
  expect(after(-2, 0b0100)).toEqual(Uint32Array.of(0b0100));
});

it("no score makes that of the largest models inaccurate", () => {
  const margins = configurationMargins([5, 1], 0);
  const set = accurateAfter({ accurate: Uint32Array.of(0b111), margins, shift: -1000, agreeing: Uint32Array.of(0b111) });
  expect(set).toEqual(Uint32Array.of(0b100));
});

it("a margin is never rounded up over the least that counts, and logits of any size have one", () => {
  fc.assert(
    fc.property(fc.double(), fc.double({ min: -10, max: 10, noNaN: true }), (logit, least) => {
      const [margin = 0, last] = configurationMargins([logit], least);
      expect(margin >= 0).toBe(logit >= least);
      expect(last).toBe(127);
      const lasting = accurateAfter({
        accurate: Uint32Array.of(0b11),
        margins: Int8Array.of(margin, 127),
        shift: 0,
        agreeing: Uint32Array.of(0b01),
      });
      expect(hasConfiguration(lasting, 0)).toBe(true);
    }),
  );
});
