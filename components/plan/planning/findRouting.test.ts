import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { candidatesFor } from "@/solver/cascade/choose/choose";
import { around, searched, testExploration, testKnobs } from "../testing/testTables";
import { findRouting } from "./findRouting";

const candidates = candidatesFor(searched, testKnobs);
const find = (thresholds: readonly number[], lines: typeof around | null = around, models = ["small", "middle"]) =>
  findRouting({ models, thresholds }, { exploration: searched, candidates, lines }, testKnobs);

describe("findRouting", () => {
  it("finds what the search looked at as the knobs deploy it", () => {
    expect(find([70], null)?.candidate).toBe(candidates[3]);
    expect(find([], null, ["middle"])?.candidate).toBe(candidates[1]);
  });

  it("finds any other threshold on the lines, as the next one up that accepts something else", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 }), (threshold) => {
        const upper = [10, 40, 55, 70, 100].find((each) => each >= threshold) ?? 100;
        // Routings from the search come first.
        const quality = threshold === 40 ? 76 : threshold === 70 ? 79 : 70 + upper / 10;
        expect(find([threshold])?.candidate.quality).toBe(quality);
      }),
    );
  });

  it("finds on the lines of three stages what differs from their middle in one threshold, and nothing else", () => {
    const lines = testExploration([
      { stages: [0, 1, 2], thresholds: [50, 60], quality: 80, share: [1, 0.5, 0.2] },
      { stages: [0, 1, 2], thresholds: [30, 60], quality: 78, share: [1, 0.4, 0.2] },
      { stages: [0, 1, 2], thresholds: [50, 90], quality: 82, share: [1, 0.5, 0.4] },
    ]);
    const models = ["small", "middle", "large"];
    expect(find([20, 60], lines, models)?.candidate.quality).toBe(78);
    expect(find([50, 61], lines, models)?.candidate.quality).toBe(82);
    expect(find([20, 61], lines, models)).toBeNull();
  });

  it("finds nothing of another cascade, nor of one with a start that nobody looked at", () => {
    expect(find([50], null)).toBeNull();
    expect(find([50], around, ["middle", "large"])).toBeNull();
    expect(find([50], around, ["small", "gone"])).toBeNull();
    const later = { models: ["small", "middle"], thresholds: [70], startBelow: 30 };
    expect(findRouting(later, { exploration: searched, candidates, lines: around }, testKnobs)).toBeNull();
  });

  it("answers a step of a slider within a frame, of an exploration as large as there are", () => {
    const routings = Array.from({ length: 1500 }, (_, index) => ({
      stages: [0, 1],
      thresholds: [index % 100],
      quality: 70,
      share: [1, 0.5],
    }));
    const exploration = testExploration(routings);
    const lines = testExploration(routings.slice(0, 202));
    const own = candidatesFor(exploration, testKnobs);
    const step = (threshold: number) =>
      findRouting({ models: ["small", "middle"], thresholds: [threshold] }, { exploration, candidates: own, lines }, testKnobs);
    step(1);
    const before = performance.now();
    for (let threshold = 0; threshold <= 100; threshold += 1) step(threshold);
    expect((performance.now() - before) / 101).toBeLessThan(16);
  });
});
