import * as fc from "fast-check";
import type { Exploration, Knobs } from "@/solver/cascade/explore/exploration";
import type { DispatchExploration } from "../dispatchExploration";

const MAX_GPUS = 6;
const TAUS = [0, 1, 4, 8] as const;

const figures = fc.record({
  quality: fc.integer({ min: 62, max: 76 }),
  latencySeconds: fc.double({ min: 1, max: 12, noNaN: true }),
  sustains: fc.boolean(),
});

/** Explorations of slack dispatch with three allocations of two models; figures are made up, and some points do not sustain the load. */
export const anyDispatch: fc.Arbitrary<DispatchExploration> = fc
  .record({
    gpus: fc.array(fc.integer({ min: 2, max: MAX_GPUS }), { minLength: 3, maxLength: 3 }),
    figures: fc.array(figures, { minLength: 3 * TAUS.length, maxLength: 3 * TAUS.length }),
  })
  .map(({ gpus, figures: all }) => ({
    models: ["small", "large"],
    requestsPerSecond: 10,
    maxGpus: MAX_GPUS,
    confidence: "stated",
    qualityConfidence: 0.9,
    allocations: gpus.map((total) => ({ models: [0, 1], gpus: [1, total - 1], replicas: [[], []] })),
    taus: TAUS,
    points: gpus.flatMap((gpusTotal, allocation) =>
      TAUS.flatMap((tau, at) => {
        const own = all[allocation * TAUS.length + at];
        if (own === undefined || !own.sustains) return [];
        const { quality, latencySeconds } = own;
        const costUsdPerRequest = gpusTotal / 1e4;
        const largestStageSeconds = 1.2 * latencySeconds;
        return [
          {
            allocation,
            tau,
            quality,
            qualityLow: quality - 2,
            latencySeconds,
            largestStageSeconds,
            gpusTotal,
            costUsdPerRequest,
            share: [0.5, 0.5],
          },
        ];
      }),
    ),
  }));

const seconds = fc.array(fc.double({ min: 1, max: 12, noNaN: true }), { minLength: MAX_GPUS, maxLength: MAX_GPUS });

/** Explorations of both models alone and their cascade; tables are made up, and do not rise with the GPUs. */
export const anyCascades: fc.Arbitrary<Exploration> = fc
  .record({
    tables: fc.array(seconds, { minLength: 4, maxLength: 4 }),
    qualities: fc.array(fc.integer({ min: 62, max: 76 }), { minLength: 3, maxLength: 3 }),
  })
  .map(({ tables, qualities }) => ({
    models: ["small", "large"],
    requestsPerSecond: 10,
    maxGpus: MAX_GPUS,
    leastGpus: [1, 1],
    usdPerGpuHour: 3.6,
    judge: { secondsPerCall: 0.25, usdPerCall: 0 },
    qualityConfidence: 0.9,
    routings: [[0], [0, 1], [1]].map((stages, routing) => ({
      stages,
      thresholds: stages.slice(1).map(() => 60),
      startBelow: 0,
      quality: qualities[routing] ?? 0,
      qualityLow: (qualities[routing] ?? 0) - 2,
      share: stages.map((_, stage) => 0.5 ** stage),
    })),
    stageP95: Float32Array.from(tables.flatMap((table) => [...table].sort((a, b) => b - a))),
    tableOffset: Int32Array.from([0, MAX_GPUS, 3 * MAX_GPUS]),
    endToEndWeight: Float32Array.from([1, 0.5, 0.75, 1]),
    endToEndJudgeSeconds: Float32Array.from([0, 0.25, 0]),
  }));

export const anyKnobs: fc.Arbitrary<Knobs> = fc.record({
  kind: fc.constantFrom("latency-under-quality", "quality-under-latency", "cost-under-both"),
  latency: fc.constantFrom("end-to-end", "largest-stage"),
  qualityFloor: fc.constantFrom(null, 62, 66, 70),
  qualityConfidence: fc.constantFrom(null, 0.9),
  latencyBudgetSeconds: fc.constantFrom(null, 3, 6, 10),
  maxGpus: fc.integer({ min: 2, max: MAX_GPUS }),
});

const slack = fc.double({ min: 0, max: 1, noNaN: true });

/** Two slacks, ascending. */
export const slackPairs = fc.tuple(slack, slack).map(([a, b]): readonly [number, number] => [Math.min(a, b), Math.max(a, b)]);
