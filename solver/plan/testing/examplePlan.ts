import type { PlanDraft } from "../plan";

/** A small, consistent plan draft for tests: two stages on two GPUs of one node. Figures are artificial. */
export function examplePlanDraft(): PlanDraft {
  const band = { low: 1, high: 3, confidence: 0.9, basis: "example" };
  const stage = { requestsPerSecond: 4, p95Seconds: 1.5, meanSeconds: 1, ttftP95Seconds: 0.2, utilisation: 0.5 };
  const judge = { model: "weir-judge", secondsPerCall: 0.27, usdPerCall: 0 };
  return {
    apiVersion: "weir/v1",
    kind: "Plan",
    metadata: { name: "example" },
    deployment: ["small", "large"].map((model, gpu) => ({
      model,
      precision: "bf16" as const,
      gpu: "l40s",
      gpus: 1,
      replicas: [{ tp: 1, pp: 1, count: 1, shareEach: 1, placements: [[{ node: "node1", gpus: [gpu] }]] }],
    })),
    policy: {
      kind: "cascade",
      stages: [{ model: "small" }, { model: "large" }],
      thresholds: [60],
      judge,
      order: { kind: "fcfs" },
      place: { kind: "least-load" },
      approvedRanges: { thresholds: [{ min: 50, max: 70 }] },
    },
    inputs: {
      workload: {
        id: "w",
        name: "example",
        requestsPerSecond: 4,
        planningPrompts: 100,
        sampleRequests: 1000,
        seed: 1,
        judge: { kind: "modelled", auc: 0.8 },
      },
      cluster: { id: "c", name: "example", kind: "described", gpu: "l40s", nodes: [{ name: "node1", gpus: 2 }], usdPerGpuHour: 1.5 },
      models: ["small", "large"],
      objective: {
        kind: "latency-under-quality",
        latency: "end-to-end",
        percentile: 95,
        qualityFloor: 70,
        qualityConfidence: 0.9,
        latencyBudgetSeconds: null,
        maxGpus: 2,
      },
    },
    predictions: {
      quality: 72,
      qualityBand: band,
      p95Seconds: 2,
      p95Band: band,
      meanSeconds: 1.2,
      largestStageP95Seconds: 1.5,
      costUsdPerRequest: 0.0002,
      costUsdPerHour: 3,
      utilisation: 0.5,
      stages: [
        { model: "small", share: 1, ...stage },
        { model: "large", share: 0.4, ...stage },
      ],
      tableError: 0.02,
      judgeOutlooks: [],
      notes: [],
    },
    solver: {
      status: "optimal",
      gap: 0,
      seconds: 0.1,
      engine: "example",
      evaluatedThresholds: 1,
      replicaSimulations: 2,
      why: [],
      alternatives: [],
    },
  };
}
