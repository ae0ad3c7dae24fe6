import { describe, expect, it } from "vitest";
import type { Candidate, Choice, Exploration, Knobs } from "@/solver/cascade/exploration";
import { prepareFrontier, stepCorners } from "./prepareFrontier";

const knobs: Knobs = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  qualityFloor: 80,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: 8,
};

function candidate(routing: number, qualityLow: number, latencySeconds: number): Candidate {
  return { routing, gpus: [1], gpusTotal: 1, latencySeconds, costUsdPerRequest: 0.001, quality: qualityLow + 1, qualityLow };
}

function exploration(stages: readonly (readonly number[])[]): Exploration {
  return {
    models: ["small", "large"],
    requestsPerSecond: 10,
    maxGpus: 8,
    leastGpus: [1, 1],
    usdPerGpuHour: 2,
    judge: { secondsPerCall: 0.2, usdPerCall: 0 },
    routings: stages.map((each) => ({
      stages: each,
      thresholds: each.slice(1).map(() => 50),
      startBelow: 0,
      quality: 0,
      qualityLow: 0,
      share: [1],
    })),
    stageP95: new Float32Array(),
    tableOffset: new Int32Array(),
    endToEndWeight: new Float32Array(),
    endToEndJudgeSeconds: new Float32Array(),
    qualityConfidence: 0.9,
  };
}

function choice(candidates: readonly Candidate[], frontier: readonly number[], chosen = candidates[frontier[0] ?? -1] ?? null): Choice {
  return { chosen, infeasible: null, binds: null, candidates, frontier };
}

const cascades = (count: number) => exploration(Array.from({ length: count }, () => [0, 1]));

describe("prepareFrontier", () => {
  it("holds the floor against the lower bound, not against the point value", () => {
    const input = { exploration: cascades(1), choice: choice([candidate(0, 79.5, 4)], []), knobs, running: null };
    expect(prepareFrontier(input).infeasible).toHaveLength(1);
    expect(prepareFrontier({ ...input, knobs: { ...knobs, qualityConfidence: null } }).dominated).toHaveLength(1);
  });

  it("greys out what the latency budget forbids without removing it", () => {
    const picture = prepareFrontier({
      exploration: cascades(2),
      choice: choice([candidate(0, 85, 4), candidate(1, 86, 9)], [0]),
      knobs: { ...knobs, latencyBudgetSeconds: 5, qualityFloor: null },
      running: { x: 85, y: 10 },
    });
    expect(picture.infeasible.map((point) => point.routing)).toEqual([1]);
    expect(picture.counts.feasible).toBe(1);
  });

  it("counts cascades that cannot keep up instead of drawing them at some height", () => {
    const picture = prepareFrontier({
      exploration: cascades(2),
      choice: choice([candidate(0, 85, 4), candidate(1, 90, Number.POSITIVE_INFINITY)], [0]),
      knobs,
      running: null,
    });
    expect(picture.counts.overloaded).toBe(1);
    expect(picture.yDomain[1]).toBeLessThan(5);
  });

  it("keeps one slow stand-alone model from flattening the frontier, and says that it lies above", () => {
    const picture = prepareFrontier({
      exploration: exploration([[0, 1], [1]]),
      choice: choice([candidate(0, 85, 4), candidate(1, 90, 400)], [0]),
      knobs,
      running: null,
    });
    expect(picture.yDomain[1]).toBeLessThan(10);
    expect(picture.standAlone).toHaveLength(0);
    expect(picture.counts.above).toBe(1);
  });

  it("thins a large cloud and keeps every frontier point", () => {
    const many = Array.from({ length: 5000 }, (_, index) => candidate(index, 60 + (index % 30), 3 + (index % 50) / 100));
    const frontier = [4990, 4991, 4992];
    const picture = prepareFrontier({ exploration: cascades(5000), choice: choice(many, frontier), knobs, running: null });
    expect(picture.frontier).toHaveLength(3);
    expect(picture.counts.drawn).toBeLessThan(1500);
    expect(picture.counts.evaluated).toBe(5000);
  });

  it("keeps floor, running plan and points inside the axes", () => {
    const picture = prepareFrontier({
      exploration: cascades(1),
      choice: choice([candidate(0, 85, 4)], [0]),
      knobs: { ...knobs, qualityFloor: 60 },
      running: { x: 93, y: 12 },
    });
    expect(picture.xDomain[0]).toBeLessThanOrEqual(60);
    expect(picture.xDomain[1]).toBeGreaterThanOrEqual(93);
    expect(picture.yDomain[1]).toBeGreaterThanOrEqual(12);
  });
});

describe("stepCorners", () => {
  it("asks of a floor between two points the latency of the next one", () => {
    const corners = stepCorners([
      { x: 1, y: 10 },
      { x: 2, y: 20 },
    ]);
    expect(corners).toEqual([
      { x: 1, y: 10 },
      { x: 1, y: 20 },
      { x: 2, y: 20 },
    ]);
  });
});
