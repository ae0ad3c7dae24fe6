import fc from "fast-check";
import { expect, test } from "vitest";
import { splitPrompts } from "./split";

test("the split takes every prompt exactly once and keeps 70 % for planning", () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 3000 }), fc.integer(), (prompts, seed) => {
      const { planning, heldOut } = splitPrompts(prompts, seed);
      expect(Int32Array.from([...planning, ...heldOut]).sort()).toEqual(Int32Array.from({ length: prompts }, (_, at) => at));
      expect(Math.abs(planning.length - 0.7 * prompts)).toBeLessThanOrEqual(1);
      expect(heldOut.length).toBeGreaterThan(0);
      expect(planning).toEqual(planning.slice().sort());
    }),
    { numRuns: 50 },
  );
});

test("the same seed gives the same split, another seed another one", () => {
  expect(splitPrompts(100, 5)).toEqual(splitPrompts(100, 5));
  expect(splitPrompts(100, 5).planning).not.toEqual(splitPrompts(100, 6).planning);
});

test("one prompt cannot be split", () => {
  expect(() => splitPrompts(1, 0)).toThrow("at least 2 prompts, found 1");
});
