import type { LabCell, LabRun, LabSystem } from "@/server/contracts/studio";
import type { LabSpec } from "@/solver/lab/labSpec";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";

const queueing = { order: { kind: "fcfs" }, place: { kind: "least-load" } } as const;

/** A slack system of two models, and one that sends all to the small one. */
export const slackSystem = (tau: number): LabSystem => ({
  name: "Chimera",
  policy: {
    kind: "slack",
    models: ["small", "large"].map((model) => ({ model, decodeSecondsPerToken: 0.01, maxBatchSize: 8, confidence: 0.5 })),
    ...{ tau, deltaScore: 0, floorSeconds: 1, order: { kind: "stjf", agingThreshold: 1000 }, place: { kind: "least-load" } },
    approvedRanges: { tau: { min: 0, max: 4 }, deltaScore: { min: 0, max: 1 } },
  },
  lengths: "learnt",
  confidence: "learnt",
});

export const fixedSystem: LabSystem = {
  name: "all to small",
  policy: { kind: "fixed", model: "small", ...queueing },
  lengths: "none",
  confidence: "none",
};

/** A system that chooses between the two models when an engine has room, for one workflow. */
export const choosingSystem = (width: number): LabSystem => ({
  name: "Aragog",
  policy: {
    kind: "just-in-time",
    models: ["small", "large"].map((model, at) => ({
      ...{ model, cost: 1 + at, saturationBatch: 8, throughput: [{ batch: 8, tokensPerSecond: 100 }], meanOutputTokens: 50 },
    })),
    workflows: [
      { workflow: workflowDocumentSchema.parse({ name: "coder", agents: [{ name: "draft" }, { name: "refiner", reads: ["draft"] }] }) },
    ],
    selection: { kind: "beam", width },
    ...queueing,
  },
  lengths: "none",
  confidence: "none",
  configurations: "learnt",
});

export const testSpec: LabSpec = {
  workloadId: "w1",
  mix: [{ workflow: "coder", share: 1 }],
  correlation: 0.5,
  programs: 100,
  arrivals: "poisson",
  replicas: ["small", "large"].map((model) => ({ model, gpu: "h100-sxm", precision: "bf16", tp: 1, pp: 1, count: 1 })),
  usdPerGpuHour: 2.5,
  queue: "engines",
  aging: { starvedSteps: 1000, quantumSteps: 100 },
  telemetrySeconds: 1,
  overhead: { routeSeconds: 0.005, predictSeconds: 0.002, decideSeconds: 0.001 },
  rates: [1, 2],
  seeds: [1, 2, 3],
  systems: [fixedSystem, slackSystem(0), slackSystem(1)],
};

export function testCell(change: Partial<LabCell> & Pick<LabCell, "system" | "rate" | "seed">): LabCell {
  return {
    ...{ programs: 100, requests: 200, unserved: 0, meanSeconds: 10, latencyQuantiles: Array.from({ length: 101 }, (_, at) => at / 5) },
    ...{ meanSecondsPerToken: 0.02, meanQueueSeconds: 2, longestWaitSeconds: 9, quality: 60, programsPerSecond: 1, usdPerProgram: 0.01 },
    ...{
      queueByLength: [],
      preemptions: 0,
      preemptedShare: 0.1,
      queueShare: 0.2,
      secondsPerTokenQuantiles: { p50: 0.018, p90: 0.03, p95: 0.04, p99: 0.06 },
      promotions: 0,
      models: [{ model: "small", share: 1, busyShare: 0.5, fullShare: 0.1 }],
      digest: "0".repeat(64),
    },
    ...change,
  };
}

/** Cells of every system, rate and seed; latency and quality grow with the system's index, and differ slightly by seed. */
export function testRun(spec: LabSpec = testSpec): LabRun {
  const cells = spec.systems.flatMap((_, system) =>
    spec.rates.flatMap((_, rate) =>
      spec.seeds.map((_, seed) =>
        testCell({ system, rate, seed, meanSeconds: 10 + 2 * system + rate + seed, quality: 60 + 5 * system + seed }),
      ),
    ),
  );
  return {
    ...{ id: "f".repeat(64), createdAt: "2026-03-01T10:00:00.000Z", actor: "operator", spec, workloadName: "tickets", state: "done" },
    ...{ problem: null, doing: null, cellsAll: cells.length, cells, notes: [] },
  };
}
