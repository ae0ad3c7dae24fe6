import { expect, it } from "vitest";
import type { DetectedReplay } from "@/server/planning/compare/compareReplay";
import { detectedRatio, detectedTables, type Watched } from "./detected";

const replay = (name: string, highestFactor: number, of: Partial<DetectedReplay> = {}): DetectedReplay => ({
  ...{ name, highestFactor, sloScale: 4, quality: [70, 80], reconfigured: 0, mirrorShare: 0.05 },
  replanned: [{ atSeconds: 902, what: ["rate"] }],
  ...of,
});

const rows: readonly Watched[] = [1, 2, 3].flatMap((seed) => [
  { seed, windowSeconds: 300, systems: [replay("Weir", 1, { quality: [70 + seed, 80] }), replay("CascadeServe", 0.5, { replanned: [] })] },
  { seed, windowSeconds: 60, systems: [replay("Weir", seed === 2 ? 0 : 0.4), replay("CascadeServe", 0.4, { sloScale: null })] },
]);

it("compares highest rates over seeds, and has no ratio where a system keeps none", () => {
  expect(detectedRatio(rows, 300)).toMatchObject({ value: expect.closeTo(2, 9), seeds: 3 });
  expect(detectedRatio(rows, 60)).toBeNull();
});

it("shows means over seeds, how often each system planned again, and the ratio", () => {
  const [systems, ratios] = detectedTables(rows);
  expect(systems).toContain("| 300 s | Weir | 3 | 4 (4 to 4) | 1 (1 to 1) | 72.0, 80.0 | 1, 1, 1 | rate 3 |");
  expect(systems).toContain("| 300 s | CascadeServe | 3 | 4 (4 to 4) | 0.5 (0.5 to 0.5) | 70.0, 80.0 | 0, 0, 0 | - |");
  expect(systems).toContain("| 60 s | CascadeServe | 3 | - |");
  expect(ratios).toContain("| 300 s | 2.00 (2.00 to 2.00) |");
  expect(ratios).toContain("| 60 s | - |");
});
