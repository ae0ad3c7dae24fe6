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
    ["small@60~large", "pinned"],
    ["small@40~large", "chosen"],
    ["small", "alone"],
  ]);
});

it("compares each plan with what runs, in signed words", () => {
  const { rows } = prepareFrontierTable({ exploration, choice, pins: [], running: { quality: 80, p95Seconds: 5 } });
  expect(rows[0]?.delta).toEqual({ quality: "+2.0", p95Seconds: "−2.0" });
});
