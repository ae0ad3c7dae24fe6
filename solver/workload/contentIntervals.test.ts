import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { gammaArrivals } from "../engine/gammaArrivals";
import { seededRandom } from "../numeric/random";
import { differenceOf, isApart, lengthInterval, pairedDifference, qualityInterval, rateInterval } from "./contentIntervals";

const SAMPLES = 1000;

/** Share of samples whose interval covers the truth. */
function coverage(
  draw: (random: ReturnType<typeof seededRandom>) => { readonly low: number; readonly high: number } | null,
  truth: number,
): number {
  const random = seededRandom(7);
  let covered = 0;
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const interval = draw(random);
    if (interval !== null && interval.low <= truth && truth <= interval.high) covered += 1;
  }
  return covered / SAMPLES;
}

const labels = (random: ReturnType<typeof seededRandom>, count: number, right: number): Float64Array =>
  Float64Array.from({ length: count }, () => (random.next() < right ? 100 : 0));

describe("intervals at 90 %", () => {
  it.each([
    [30, 0.5],
    [30, 0.95],
    [500, 0.8],
  ])("cover the mean quality of %i prompts that are right with chance %f", (count, right) => {
    expect(coverage((random) => qualityInterval(labels(random, count, right)), 100 * right)).toBeGreaterThan(0.875);
  });

  it("cover a mean length that is skewed", () => {
    const draw = (random: ReturnType<typeof seededRandom>) => lengthInterval(Array.from({ length: 200 }, () => Math.exp(random.normal())));
    expect(coverage(draw, Math.exp(0.5))).toBeGreaterThan(0.85);
  });

  it("cover the rate of bursty arrivals", () => {
    let seed = 0;
    const draw = () => rateInterval(gammaArrivals({ requests: 400, requestsPerSecond: 5, shape: 0.3, seed: seed++ }));
    expect(coverage(draw, 5)).toBeGreaterThan(0.8);
  });

  it("mark one difference in ten where there is none, made of other prompts", () => {
    const draw = (random: ReturnType<typeof seededRandom>) => {
      const [a, b] = [qualityInterval(labels(random, 200, 0.7)), qualityInterval(labels(random, 300, 0.7))];
      return a === null || b === null ? null : differenceOf(b, a);
    };
    const share = coverage(draw, 0);
    expect(share).toBeGreaterThan(0.875);
    expect(share).toBeLessThan(0.94);
  });

  it("are narrower prompt by prompt where the same prompts are hard for both", () => {
    const random = seededRandom(3);
    const hard = labels(random, 400, 0.6);
    const other = hard.map((label) => (random.next() < 0.05 ? 100 - label : label));
    const [a, b, paired] = [qualityInterval(hard), qualityInterval(other), pairedDifference(other, hard)];
    if (a === null || b === null || paired === null) throw new Error("there are prompts");
    const apart = differenceOf(b, a);
    expect(paired.high - paired.low).toBeLessThan(0.5 * (apart.high - apart.low));
  });
});

it("a few right answers do not prove that none is ever wrong", () => {
  expect(qualityInterval(Float64Array.of(100, 100, 100))?.low).toBeLessThan(75);
});

it("a difference and its reverse are each other's mirror", () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { minLength: 2, maxLength: 40 }),
      fc.array(fc.boolean(), { minLength: 2, maxLength: 40 }),
      (one, two) => {
        const column = (of: readonly boolean[]) => Float64Array.from(of, (right) => (right ? 100 : 0));
        const [a, b] = [qualityInterval(column(one)), qualityInterval(column(two))];
        if (a === null || b === null) throw new Error("there are prompts");
        const [there, back] = [differenceOf(a, b), differenceOf(b, a)];
        expect(there.low).toBeCloseTo(-back.high, 9);
        expect(isApart(there)).toBe(isApart(back));
      },
    ),
  );
});

it("nothing has no interval, and one length bounds nothing", () => {
  expect(qualityInterval(new Float64Array())).toBeNull();
  expect(lengthInterval([])).toBeNull();
  expect(lengthInterval([40])?.high).toBe(Number.POSITIVE_INFINITY);
  expect(rateInterval(Float64Array.of(0, 0))).toBeNull();
});
