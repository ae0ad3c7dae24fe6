import type { EngineFrame, GpuFrame, LiveFrame } from "@/server/contracts/studio";

/** A frame of an idle cluster in which nothing is wrong, for tests. */
export function testFrame(change: Partial<LiveFrame> = {}): LiveFrame {
  return {
    atMs: 1000,
    clusterId: "c",
    planId: null,
    timeScale: 1,
    engines: [],
    gpus: [],
    gpuSource: null,
    gateway: {
      state: "fresh",
      reason: "",
      requestsPerSecond: null,
      errorsPerSecond: null,
      refusedPerSecond: 0,
      unjudgedPerSecond: 0,
      ttftP95Seconds: null,
      overheadP95Seconds: null,
      stages: [],
      routing: null,
    },
    measured: { requests: 0, windowSeconds: 0, p50Seconds: null, p95Seconds: null, meanQuality: null },
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
    ...change,
  };
}
