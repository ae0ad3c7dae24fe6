import fc from "fast-check";
import { expect, test } from "vitest";
import { seededRandom } from "./random";
import { shuffled } from "./shuffled";

test("every number below the count comes once, and the same seed gives the same order", () => {
  fc.assert(
    fc.property(fc.nat(200), fc.integer(), (count, seed) => {
      const order = shuffled(count, seededRandom(seed));
      expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, at) => at));
      expect(shuffled(count, seededRandom(seed))).toEqual(order);
    }),
  );
});

test("each of three numbers stands at each place about a third of the time", () => {
  const random = seededRandom(7);
  const seen = new Int32Array(9);
  for (let draw = 0; draw < 9000; draw += 1) for (const [place, number] of shuffled(3, random).entries()) seen[place * 3 + number]! += 1;
  for (const times of seen) expect(Math.abs(times - 3000)).toBeLessThan(200);
});
