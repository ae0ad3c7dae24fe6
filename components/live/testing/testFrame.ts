import type { EngineFrame, EngineReadings, GpuFrame, LiveFrame } from "@/server/contracts/studio";

const unmeasured = { requests: 0, windowSeconds: 0, p50Seconds: null, p95Seconds: null, p99Seconds: null, meanQuality: null };

/** A frame of an idle cluster in which nothing is wrong, for tests. */
export function testFrame(change: Partial<LiveFrame> = {}): LiveFrame {
  return {
    atMs: 1000,
    clusterId: "c",
    planId: null,
    timeScale: 1,
    engines: [],
    gpus: [],
    gpuSources: [],
    gateway: {
      state: "fresh",
      sinceMs: 0,
      ageSeconds: 0,
      reason: "",
      requestsPerSecond: null,
      errorsPerSecond: null,
      refusedPerSecond: 0,
      shedPerSecond: 0,
      unjudgedPerSecond: 0,
      judge: null,
      queuedForAny: 0,
      ttftP95Seconds: null,
      overheadP95Seconds: null,
      stages: [],
      routing: null,
    },
    measured: unmeasured,
    recent: { ...unmeasured, ttftP95Seconds: null, overheadP95Seconds: null, stages: [] },
    models: [],
    ...change,
  };
}

/** A serving engine of `small-8b` with fresh telemetry, for tests. */
export function testEngine(id: string, change: Partial<EngineFrame> = {}): EngineFrame {
  return {
    id,
    model: "small-8b",
    state: "fresh",
    sinceMs: 0,
    ageSeconds: 0,
    reason: "",
    failing: null,
    events: [],
    engine: { type: "vllm", version: "0.30.0" },
    health: "serving",
    healthSinceMs: 0,
    running: 1,
    waiting: 1,
    kvUse: 0.5,
    requestsPerSecond: 1,
    ttftP95Seconds: 0.2,
    readings: null,
    gpus: [],
    ...change,
  };
}

/** The first GPU of `n1`, half busy and half full, for tests. */
export function testGpu(change: Partial<GpuFrame> = {}): GpuFrame {
  return {
    node: "n1",
    index: 0,
    instance: null,
    name: "NVIDIA L40S",
    utilisation: 0.5,
    utilisationOf: "graphics engine",
    memoryUsedBytes: 40,
    memoryTotalBytes: 80,
    powerWatts: 200,
    temperatureCelsius: 60,
    containers: [],
    engineId: null,
    source: "dcgm",
    ...change,
  };
}

const nothingYet = { state: "value", value: null } as const;

const percentilesOf = <Name extends string>(name: Name) =>
  Object.fromEntries([50, 95, 99].map((percent) => [`${name}P${percent}Seconds`, nothingYet])) as Record<
    `${Name}P${50 | 95 | 99}Seconds`,
    typeof nothingYet
  >;

/** Readings of an engine that has reported nothing yet, for tests. */
export function testReadings(change: Partial<EngineReadings> = {}): EngineReadings {
  return {
    running: nothingYet,
    waiting: nothingYet,
    kvUse: nothingYet,
    kvUseMean: nothingYet,
    kvCapacityTokens: nothingYet,
    preemptionsPerSecond: nothingYet,
    requestsPerSecond: nothingYet,
    promptTokensPerSecond: nothingYet,
    generationTokensPerSecond: nothingYet,
    prefixHitShare: nothingYet,
    ttftMeanSeconds: nothingYet,
    tpotMeanSeconds: nothingYet,
    endToEndMeanSeconds: nothingYet,
    ...percentilesOf("ttft"),
    ...percentilesOf("tpot"),
    ...percentilesOf("itl"),
    ...percentilesOf("endToEnd"),
    ...percentilesOf("queue"),
    sleepState: nothingYet,
    ...change,
  };
}
