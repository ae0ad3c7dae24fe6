import { expect, test } from "vitest";
import { differenceOf, ratioOf, timesLess } from "./bySeed";

test("means over cases are made within a seed, and the interval is over seeds", () => {
  // Two ladders that differ strongly, and seeds that hardly do: only the latter widens the interval.
  const own = [
    { own: [1, 1.02, 0.98], reference: [2, 2, 2] },
    { own: [1, 0.98, 1.02], reference: [8, 8, 8] },
  ];
  const faster = timesLess(own);
  expect(faster?.value).toBeCloseTo(4, 2);
  expect((faster?.high ?? 9) - (faster?.low ?? 0)).toBeLessThan(0.01);
  expect(ratioOf(own)?.value).toBeCloseTo(0.25, 3);
  const points = differenceOf([{ own: [60, 64, 62], reference: [60, 60, 60] }]);
  expect(points?.value).toBeCloseTo(2, 9);
  // Student's t of two degrees of freedom, 2.92, over a standard deviation of 2 and the root of three seeds.
  expect(points?.low).toBeCloseTo(2 - (2.92 * 2) / Math.sqrt(3), 2);
});
