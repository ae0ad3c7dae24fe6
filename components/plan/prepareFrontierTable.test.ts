import { expect, it } from "vitest";
import type { Candidate, Exploration } from "@/solver/cascade/exploration";
import { prepareFrontierTable } from "./prepareFrontierTable";

const exploration = {
  models: ["small", "large"],
  routings: [
    { stages: [0], thresholds: [] },
    { stages: [0, 1], thresholds: [40] },
    { stages: [0, 1], thresholds: [60] },
    { stages: [1], thresholds: [] },
  ],
} as unknown as Exploration;
const candidates: readonly Candidate[] = [70, 82, 86, 87].map((quality, routing) => ({
  routing,
  gpus: [1],
  gpusTotal: 1,
  latencySeconds: routing === 3 ? Number.POSITIVE_INFINITY : routing + 2,
  costUsdPerRequest: 0.001,
  quality,
  qualityLow: quality - 1,
}));
const choice = { chosen: candidates[1] ?? null, infeasible: null, binds: null, candidates, frontier: [1] };

it("lists pinned plans first, then the frontier, then models alone, and none that cannot keep up", () => {
  const { rows } = prepareFrontierTable({ exploration, choice, pins: ["small@60~large"], running: null });
  expect(rows.map((row) => [row.key, row.role])).toEqual([
    ["small@60~large", "other"],
    ["small@40~large", "chosen"],
    ["small", "alone"],
  ]);
});

it("compares each plan with what runs, in signed words", () => {
  const { rows } = prepareFrontierTable({ exploration, choice, pins: [], running: { key: "gone", quality: 80, p95Seconds: 5 } });
  expect(rows[0]?.delta).toEqual({ quality: "+2.0", p95Seconds: "−2.0" });
});

it("marks the plan that runs, also off the frontier", () => {
  const { rows } = prepareFrontierTable({ exploration, choice, pins: [], running: { key: "small@60~large", quality: 80, p95Seconds: 5 } });
  expect(rows.filter((row) => row.runs).map((row) => [row.key, row.role, row.brief])).toEqual([["small@60~large", "other", true]]);
});

it("shows few of a frontier of near-duplicates at first: both ends, what lies evenly between, and the recommended one", () => {
  const thresholds = Array.from({ length: 101 }, (_, threshold) => threshold);
  const dense = { models: ["small", "large"], routings: thresholds.map((each) => ({ stages: [0, 1], thresholds: [each] })) };
  const points = thresholds.map((routing) => ({
    ...candidates[0],
    routing,
    quality: routing < 90 ? 70 + routing / 90 : 71 + (routing - 90),
  }));
  const { rows } = prepareFrontierTable({
    exploration: dense as unknown as Exploration,
    choice: { ...choice, chosen: points[50] as Candidate, candidates: points as Candidate[], frontier: thresholds },
    pins: [],
    running: null,
  });
  const brief = rows.filter((row) => row.brief).map((row) => row.routing);
  expect(rows).toHaveLength(101);
  expect(brief.length).toBeLessThanOrEqual(7);
  expect(brief).toEqual(expect.arrayContaining([0, 50, 100]));
  // By quality, not by position: nine tenths of the frontier lie within one point of quality.
  expect(brief.filter((routing) => routing > 90).length).toBeGreaterThanOrEqual(4);
});

it("shows costs only where they tell plans apart", () => {
  const table = (costs: readonly number[]) =>
    prepareFrontierTable({
      exploration,
      choice: { ...choice, candidates: candidates.map((each, index) => ({ ...each, costUsdPerRequest: costs[index] ?? 0 })) },
      pins: [],
      running: null,
    });
  expect(table([0.001, 0.001, 0.001]).costsDiffer).toBe(false);
  expect(table([0.001, 0.002, 0.001]).costsDiffer).toBe(true);
});
