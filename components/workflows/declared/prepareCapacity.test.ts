import { expect, it } from "vitest";
import type { CapacityCurve } from "@/server/contracts/studio";
import { prepareCapacity } from "./prepareCapacity";

const curve: CapacityCurve = {
  points: [
    { admitted: 1, programsPerSecond: 6, quality: 70 },
    { admitted: 0.4, programsPerSecond: 4, quality: 80.02 },
    { admitted: 0.01, programsPerSecond: 2, quality: 81 },
  ],
  largest: { programsPerSecond: 2, quality: 80 },
  notes: [],
};

it("draws quality over capacity, and holds every point against the largest models throughout", () => {
  const { lines, rows, says } = prepareCapacity(curve, "voting");
  expect(lines?.points).toHaveLength(4);
  const [cheap, accurate, narrow, largest] = lines?.points ?? [];
  expect(cheap?.x).toBeGreaterThan(accurate?.x ?? 1);
  expect(cheap?.y).toBeLessThan(accurate?.y ?? 0);
  expect(narrow?.x).toBe(largest?.x);
  expect(rows.map(({ timesLargest }) => timesLargest)).toEqual(["× 3.00", "× 2.00", "× 1.00", "× 1.00"]);
  expect(rows.map(({ loss }) => loss)).toEqual(["−10.0", "±0", "+1.0", "±0"]);
  expect(says).toContain("Modelled");
  expect(says).toContain("up to 6/s");
});

it("says nothing of how much more where the largest models finish nothing", () => {
  const { rows } = prepareCapacity({ ...curve, largest: { programsPerSecond: 0, quality: 80 } }, "voting");
  expect(rows[0]?.timesLargest).toBe("–");
});
