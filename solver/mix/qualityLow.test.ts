import { expect, it } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { qualityLow } from "./qualityLow";

it("is below the true mean in nine of ten samples, and nearer to it the more labels there are", () => {
  const random = seededRandom(1);
  const labels = (count: number): number[] => Array.from({ length: count }, () => (random.next() < 0.6 ? 100 : 0));
  const bounds = Array.from({ length: 1000 }, () => qualityLow(labels(200)));
  const held = bounds.filter((low) => low <= 60).length;
  expect(held).toBeGreaterThan(870);
  expect(held).toBeLessThan(940);
  expect(qualityLow(labels(20_000))).toBeGreaterThan(58);
  expect(qualityLow([])).toBe(0);
});
