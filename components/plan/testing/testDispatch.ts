import type { DispatchExploration, DispatchPoint } from "@/solver/dispatch/dispatchExploration";

const point = (allocation: number, tau: number, quality: number, latencySeconds: number): DispatchPoint => ({
  allocation,
  tau,
  quality,
  qualityLow: quality - 2,
  latencySeconds,
  largestStageSeconds: latencySeconds,
  gpusTotal: allocation === 0 ? 8 : 4,
  costUsdPerRequest: allocation === 0 ? 0.0008 : 0.0004,
  share: [0.6, 0.4],
});

/** Slack dispatch between two models of `testTables`, on eight GPUs and on four. */
export const testDispatch: DispatchExploration = {
  models: ["small", "middle", "large"],
  requestsPerSecond: 10,
  maxGpus: 8,
  confidence: "stated",
  qualityConfidence: 0.9,
  allocations: [
    { models: [0, 2], gpus: [2, 6], replicas: [[], []] },
    { models: [0, 2], gpus: [1, 3], replicas: [[], []] },
  ],
  taus: [0, 1, 2],
  points: [point(0, 0, 76, 1.4), point(0, 1, 79, 2), point(0, 2, 85, 3), point(1, 0, 76, 4), point(1, 1, 78, 5), point(1, 2, 80, 6)],
};
