import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { latencyUnderQuality, qualityUnderLatency } from "./penalty";

describe("latencyUnderQuality", () => {
  const asked = { floor: 0.9, range: { utopia: 0.95, nadir: 0.75 }, weight: 100 };

  it.each([
    [11.0, 0.88, 21.0],
    [11.4, 0.91, 11.4],
    [12.2, 0.93, 12.2],
  ])("gives the source's values: latency %f at quality %f scores %f", (latencySeconds, quality, score) => {
    expect(latencyUnderQuality({ latencySeconds, quality }, asked)).toBeCloseTo(score, 9);
  });

  it("does not depend on the unit of quality", () => {
    const percent = { floor: 90, range: { utopia: 95, nadir: 75 }, weight: 100 };
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 60, noNaN: true }), (quality, latencySeconds) => {
        const inShares = latencyUnderQuality({ latencySeconds, quality }, asked);
        expect(latencyUnderQuality({ latencySeconds, quality: 100 * quality }, percent)).toBeCloseTo(inShares, 6);
      }),
    );
  });

  it("stays finite when the smallest model is as good as the largest", () => {
    const flat = { floor: 80, range: { utopia: 75, nadir: 75 } };
    expect(latencyUnderQuality({ latencySeconds: 1, quality: 79 }, flat)).toBeGreaterThan(1000);
  });
});

describe("qualityUnderLatency", () => {
  const asked = { budgetSeconds: 10, range: { best: 2, worst: 22 }, weight: 100 };

  it("ranks by quality alone inside the budget", () => {
    expect(qualityUnderLatency({ latencySeconds: 9, quality: 80 }, asked)).toBe(-80);
    expect(qualityUnderLatency({ latencySeconds: 3, quality: 85 }, asked)).toBe(-85);
  });

  it("charges the excess as a share of the reachable range", () => {
    expect(qualityUnderLatency({ latencySeconds: 12, quality: 90 }, asked)).toBe(-80);
  });
});
