import type { EngineFrame, LiveFrame } from "@/server/contracts/studio";

/** A frame of an idle cluster in which nothing is wrong, for tests. */
export function testFrame(change: Partial<LiveFrame> = {}): LiveFrame {
  return {
    atMs: 1000,
    clusterId: "c",
    planId: null,
    timeScale: 1,
    engines: [],
    gpus: [],
    gateway: {
      state: "fresh",
      reason: "",
      requestsPerSecond: null,
      errorsPerSecond: null,
      refusedPerSecond: 0,
      unjudgedPerSecond: 0,
      ttftP95Seconds: null,
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
    health: "serving",
    ageSeconds: 0,
    reason: "",
    running: 1,
    waiting: 1,
    kvUse: 0.5,
    requestsPerSecond: 1,
    ttftP95Seconds: 0.2,
    gpus: [],
    ...change,
  };
}
