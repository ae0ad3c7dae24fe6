import * as fc from "fast-check";
import { expect, it } from "vitest";
import { LEAST_CHANCE, type ScoredAnswers, scoreShift } from "./scoreShift";

const chance = fc.double({ min: 0, max: 1, noNaN: true });
const score = fc.double({ min: 0, max: 100, noNaN: true });
const answers: fc.Arbitrary<ScoredAnswers> = fc.tuple(chance, chance, chance).map(([prior, one, other]) => ({
  ...{ prior, rightIfAccurate: Math.max(one, other), rightIfNot: Math.min(one, other) },
}));

it("a score equal to the prior changes nothing", () => {
  fc.assert(
    fc.property(answers, (own) => {
      expect(scoreShift(100 * own.prior, own)).toBeCloseTo(0, 9);
    }),
  );
});

it("a higher score never lowers the odds, and is no number but a finite one", () => {
  fc.assert(
    fc.property(answers, score, score, (own, one, other) => {
      const [low, high] = [scoreShift(Math.min(one, other), own), scoreShift(Math.max(one, other), own)];
      expect(Number.isFinite(low)).toBe(true);
      expect(Number.isFinite(high)).toBe(true);
      expect(high).toBeGreaterThanOrEqual(low - 1e-12);
    }),
  );
});

it("the odds change by no more than a right answer for sure, or a wrong one, would change them", () => {
  const held = (own: number) => Math.min(1 - LEAST_CHANCE, Math.max(LEAST_CHANCE, own));
  fc.assert(
    fc.property(answers, score, (own, given) => {
      const [accurate, not] = [held(own.rightIfAccurate), held(own.rightIfNot)];
      const shift = scoreShift(given, own);
      expect(shift).toBeGreaterThanOrEqual(Math.log((1 - accurate) / (1 - not)) - 1e-9);
      expect(shift).toBeLessThanOrEqual(Math.log(accurate / not) + 1e-9);
    }),
  );
});

it("answers that are right as often in accurate programs as in others say nothing", () => {
  fc.assert(
    fc.property(chance, chance, score, (prior, right, given) => {
      expect(scoreShift(given, { prior, rightIfAccurate: right, rightIfNot: right })).toBe(0);
    }),
  );
});

it("is Bayes' rule, counted over all cases of a right answer and an accurate program", () => {
  const inner = fc.double({ min: 0.05, max: 0.95, noNaN: true });
  fc.assert(
    fc.property(fc.tuple(inner, inner, inner), inner, inner, ([accurate, one, other], ifRight, ifWrong) => {
      const [a, b] = [Math.max(one, other), Math.min(one, other)];
      const prior = accurate * a + (1 - accurate) * b;
      // A gate that says "good" with these chances of a right and a wrong answer; its calibrated score is the chance of a right one then.
      const good = prior * ifRight + (1 - prior) * ifWrong;
      const calibrated = (100 * prior * ifRight) / good;
      fc.pre(calibrated > 1 && calibrated < 99);
      const counted = (accurate * (a * ifRight + (1 - a) * ifWrong)) / good;
      const odds = (accurate / (1 - accurate)) * Math.exp(scoreShift(calibrated, { prior, rightIfAccurate: a, rightIfNot: b }));
      expect(odds / (1 + odds)).toBeCloseTo(counted, 9);
    }),
  );
});
