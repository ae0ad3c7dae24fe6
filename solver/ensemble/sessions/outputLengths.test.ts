import fc from "fast-check";
import { expect, it } from "vitest";
import { mean } from "@/solver/numeric/quantile";
import { seededRandom } from "@/solver/numeric/random";
import { outputLengths } from "./outputLengths";

const lengths = fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 60 });

it("expects one answer to be of mean length, more never shorter, and none longer than the longest there is", () => {
  fc.assert(
    fc.property(lengths, fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 2, maxLength: 6 }), (outputTokens, counts) => {
      const { meanTokens, expectedLongest } = outputLengths({ outputTokens });
      const most = Math.max(...outputTokens);
      expect(expectedLongest(0)).toBe(0);
      expect(expectedLongest(1)).toBeCloseTo(meanTokens, 6);
      const rising = counts.sort((a, b) => a - b).map(expectedLongest);
      for (const [at, one] of rising.entries()) {
        expect(one).toBeLessThanOrEqual(most + 1e-9);
        expect(one).toBeGreaterThanOrEqual((rising[at - 1] ?? meanTokens) - 1e-6);
      }
    }),
  );
});

it("expects what drawing answers finds", () => {
  const random = seededRandom(9);
  const outputTokens = Array.from({ length: 300 }, () => Math.round(random.lognormal(6, 1)));
  const longest = Array.from({ length: 4000 }, () => Math.max(...Array.from({ length: 20 }, () => outputTokens[random.int(300)]!)));
  expect(outputLengths({ outputTokens }).expectedLongest(20) / mean(longest)).toBeCloseTo(1, 1);
});

it("has nothing to say of no answers", () => {
  expect(() => outputLengths({ outputTokens: [] })).toThrow(RangeError);
});
