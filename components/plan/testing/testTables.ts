import type { Exploration, Knobs, Routing } from "@/solver/cascade/explore/exploration";

const MAX_GPUS = 8;
const NEVER = Number.POSITIVE_INFINITY;
const seconds = {
  small: [8, 4, 3, 2, 1.9, 1.8, 1.7, 1.6],
  middle: [NEVER, 6, 5, 4, 3, 2.5, 2.2, 2],
  large: [NEVER, NEVER, NEVER, 9, 8, 7, 6, 5],
};
const tables = [seconds.small, seconds.middle, seconds.large];

type Short = Pick<Routing, "stages" | "thresholds" | "quality" | "share"> & Partial<Pick<Routing, "startBelow">>;

/** An exploration of three models, in which every stage has the latency of its model alone. */
export function testExploration(routings: readonly Short[]): Exploration {
  const rows = routings.flatMap(({ stages, share }) =>
    stages.map((model, stage) => (share[stage] === 0 ? tables[0]?.map(() => NEVER) : tables[model]) ?? []),
  );
  let row = 0;
  const tableOffset = routings.map(({ stages }) => {
    const offset = row * MAX_GPUS;
    row += stages.length;
    return offset;
  });
  return {
    models: ["small", "middle", "large"],
    requestsPerSecond: 10,
    maxGpus: MAX_GPUS,
    leastGpus: [1, 2, 4],
    usdPerGpuHour: 3.6,
    judge: { secondsPerCall: 0, usdPerCall: 0 },
    qualityConfidence: 0.9,
    routings: routings.map((own) => ({ startBelow: 0, ...own, qualityLow: own.quality - 2 })),
    stageP95: Float32Array.from(rows.flat()),
    tableOffset: Int32Array.from(tableOffset),
    endToEndWeight: new Float32Array(rows.length).fill(1),
    endToEndJudgeSeconds: new Float32Array(routings.length),
  };
}

/** The routings that the search evaluated. */
export const searched = testExploration([
  { stages: [0], thresholds: [], quality: 70, share: [1] },
  { stages: [1], thresholds: [], quality: 80, share: [1] },
  { stages: [0, 1], thresholds: [40], quality: 76, share: [1, 0.3] },
  { stages: [0, 1], thresholds: [70], quality: 79, share: [1, 0.6] },
  { stages: [0, 2], thresholds: [60], quality: 84, share: [1, 0.4] },
]);

/** Around `small, middle`: every threshold that changes which answers are accepted. At 10 every answer of the small model is accepted. */
export const around = testExploration(
  [10, 40, 55, 70, 100].map((threshold) => ({
    stages: [0, 1],
    thresholds: [threshold],
    quality: 70 + threshold / 10,
    share: [1, (threshold - 10) / 90],
  })),
);

export const testKnobs: Knobs = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  qualityFloor: 75,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: MAX_GPUS,
};
