import fc from "fast-check";
import { expect, test } from "vitest";
import { DecodeSpan } from "./decodeSpan";

const anySpan = fc
  .record({
    start: fc.double({ min: 0, max: 1e6, noNaN: true }),
    first: fc.double({ min: 1e-4, max: 10, noNaN: true }),
    growthShare: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ start, first, growthShare }) => {
    const span = new DecodeSpan();
    span.begin(start, first, first * growthShare);
    return span;
  });

test("the steps that reach a time are the fewest whose end is not before it", () => {
  fc.assert(
    fc.property(anySpan, fc.double({ min: 0, max: 1000, noNaN: true }), (span, after) => {
      const seconds = span.startSeconds + after;
      const steps = span.stepsReaching(seconds);
      expect(span.endSeconds(steps)).toBeGreaterThanOrEqual(seconds);
      if (steps > 1) expect(span.endSeconds(steps - 1)).toBeLessThan(seconds);
    }),
  );
});

test("the steps done by a time are the most whose end is not after it", () => {
  fc.assert(
    fc.property(anySpan, fc.integer({ min: 1, max: 5000 }), (span, steps) => {
      expect(span.stepsDoneBy(span.endSeconds(steps))).toBe(steps);
      expect(span.stepsDoneBy((span.endSeconds(steps) + span.endSeconds(steps + 1)) / 2)).toBe(steps);
      expect(span.stepsDoneBy(span.startSeconds)).toBe(0);
    }),
  );
});
