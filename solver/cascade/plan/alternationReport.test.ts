import { describe, expect, it } from "vitest";
import type { Candidate, Knobs } from "../explore/exploration";
import type { Explorer } from "../explore/explorer";
import type { BothWays } from "./alternation";
import { alternationReport } from "./alternationReport";

const candidate = (routing: number): Candidate => ({
  routing,
  gpus: [4],
  gpusTotal: 4,
  latencySeconds: 3,
  costUsdPerRequest: 1,
  quality: 80,
  qualityLow: 75,
});

const explorer = {
  input: { sample: { models: ["small", "large"] } },
  routing: () => ({ stages: [0, 1], thresholds: [40] }),
} as unknown as Explorer;

const ways = (alternated: Candidate | null): BothWays => ({
  alternation: { iterates: [], candidate: alternated },
  searched: 10,
  direct: candidate(3),
  alternated,
  better: "direct",
  difference: alternated === null ? null : { latencySeconds: 1, quality: 0 },
});

const knobs = { qualityConfidence: 0.9 } as Knobs;

describe("alternationReport", () => {
  it("tells which way the plan's routing came from", () => {
    const keptOf = (routing: number, alternated: Candidate | null) =>
      alternationReport(explorer, ways(alternated), { routing, knobs }).kept;
    expect(keptOf(3, candidate(12))).toBe("direct");
    expect(keptOf(12, candidate(12))).toBe("alternation");
    // Evaluated during the alternation, but not its result.
    expect(keptOf(11, candidate(12))).toBe("direct");
    expect(keptOf(3, candidate(3))).toBe("same");
    expect(keptOf(3, null)).toBe("direct");
  });

  it("names what the alternation found with the quality that is held against the floor, or nothing", () => {
    expect(alternationReport(explorer, ways(candidate(12)), { routing: 3, knobs })).toMatchObject({
      found: { stages: ["small", "large"], thresholds: [40], latencySeconds: 3, quality: 75 },
      difference: { latencySeconds: 1 },
    });
    expect(alternationReport(explorer, ways(null), { routing: 3, knobs })).toMatchObject({ found: null, difference: null });
  });
});
