import { describe, expect, it } from "vitest";
import { alternationText } from "./alternationText";

const found = { stages: ["small"], thresholds: [], latencySeconds: 4, quality: 80 };

describe("what the alternation found", () => {
  it("is told beside the direct search, with how far apart they are and which is kept", () => {
    expect(alternationText({ iterations: 7, found, kept: "same", difference: { latencySeconds: 0, quality: 0 } })).toBe(
      "The paper's alternation found the same plan, in 7 rounds.",
    );
    expect(alternationText({ iterations: 1, found, kept: "direct", difference: { latencySeconds: 0.4, quality: -0.3 } })).toMatch(
      /^The paper's alternation found a plan 400.ms slower and 0\.3 points worse than the direct search's, in 1 round; the direct search's plan is used\.$/,
    );
    expect(alternationText({ iterations: 3, found, kept: "alternation", difference: { latencySeconds: -1.2, quality: 0.01 } })).toMatch(
      /1\.20.s faster than the direct search's, in 3 rounds; it is used\.$/,
    );
  });

  it("says so when it found nothing, and when the two differ by less than the figures show", () => {
    expect(alternationText({ iterations: 2, found: null, kept: "direct", difference: null })).toContain("no plan within floor and budget");
    expect(alternationText({ iterations: 2, found, kept: "direct", difference: { latencySeconds: 0.001, quality: 0 } })).toContain(
      "as good by the tables",
    );
  });
});
