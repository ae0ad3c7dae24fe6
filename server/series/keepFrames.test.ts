import { expect, it } from "vitest";
import type { EngineReadings, LiveFrame } from "@/server/contracts/studio";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import { keepFrames } from "./keepFrames";
import { kindOf, quantities } from "./quantities";
import type { SeriesBook } from "./seriesBook";

const stage = {
  model: "m",
  queued: 3,
  inFlight: 4,
  share: 1,
  escalated: 0.5,
  p50Seconds: 1,
  p95Seconds: 2,
  p99Seconds: 3,
  meanJudgedScore: null,
};
/** Of an engine that has no prefix cache and does not tell of preemptions. */
function readingsOf(running: number): EngineReadings {
  const value = (of: number | null) => ({ state: "value", value: of }) as const;
  const percentiles = Object.fromEntries(
    ["ttft", "tpot", "itl", "endToEnd", "queue"].flatMap((name) =>
      [50, 95, 99].map((percent) => [`${name}P${percent}Seconds`, value(0.2)]),
    ),
  );
  return {
    ...percentiles,
    running: value(running),
    waiting: value(0),
    requestsPerSecond: value(null),
    preemptionsPerSecond: { state: "absent", lookedFor: "x" },
    prefixHitShare: { state: "not-applicable" },
    sleepState: { state: "value", value: "awake" },
  } as unknown as EngineReadings;
}
const fresh = { state: "fresh", sinceMs: 0, ageSeconds: 0, reason: "", failing: null, events: [] } as const;
const shown = { running: null, waiting: null, kvUse: null, requestsPerSecond: null, ttftP95Seconds: null };
const engine = { ...fresh, ...shown, model: "m", engine: null, health: "serving", healthSinceMs: 0, gpus: [] } as const;
const gpu = {
  node: "n",
  index: 1,
  instance: null,
  source: "dcgm",
  name: "",
  utilisation: 0.5,
  utilisationOf: null,
  memoryUsedBytes: 10,
  memoryTotalBytes: 20,
  powerWatts: 300,
  temperatureCelsius: null,
  containers: [],
  engineId: null,
};
const { model: _, queued, inFlight, ...recentStage } = stage;
const measured = { requests: 0, windowSeconds: 1, p50Seconds: 4, p95Seconds: 5, p99Seconds: null, meanQuality: null };
const latencies = {
  ttftP50Seconds: 0.1,
  ttftP95Seconds: 0.2,
  ttftP99Seconds: null,
  tpotP50Seconds: 0.01,
  tpotP95Seconds: 0.02,
  tpotP99Seconds: 0.03,
};
const frame: LiveFrame = {
  atMs: 1000,
  clusterId: "c",
  planId: null,
  timeScale: 1,
  engines: [
    { ...engine, id: "a", readings: readingsOf(7) },
    { ...engine, id: "old", state: "stale", readings: readingsOf(5) },
    { ...engine, id: "gone", state: "unreachable", readings: null },
  ],
  gpus: [gpu, { ...gpu, instance: { id: "2", profile: "1g.5gb" }, utilisation: 0.25 }],
  gpuSources: [{ ...fresh, kind: "dcgm-exporter", name: "dcgm" }],
  gateway: {
    ...{ state: "fresh", sinceMs: 0, ageSeconds: 0, reason: "" },
    requestsPerSecond: 9,
    errorsPerSecond: 0,
    refusedPerSecond: null,
    shedPerSecond: 2,
    unjudgedPerSecond: 0,
    judge: null,
    queuedForAny: 6,
    ttftP95Seconds: 1,
    overheadP95Seconds: 0.001,
    stages: [stage],
    routing: null,
  },
  measured: { ...measured, p95Seconds: 60 },
  recent: { ...measured, ttftP95Seconds: 1, overheadP95Seconds: 0.001, stages: [recentStage] },
  models: [{ model: "m", ...latencies, limits: { ttftP95Seconds: "upper" } }],
};

const cluster: ClusterSpec = {
  ...{ id: "c", name: "c", kind: "described", gpu: "l40s", usdPerGpuHour: 2, otherUsdPerGpuHour: { "h100-sxm": 5 } },
  nodes: [
    { name: "n", gpus: 4 },
    { name: "large", gpus: 2, gpu: "h100-sxm" },
  ],
};

async function kept(...frames: readonly LiveFrame[]): Promise<ReadonlyMap<string, number | null>> {
  const values = new Map<string, number | null>();
  const stream = (async function* () {
    yield* frames;
  })();
  const book = {
    append: (...[atMs, subject, quantity, value]: Parameters<SeriesBook["append"]>) =>
      void values.set(`${atMs} ${subject} ${quantity}`, value),
  };
  await keepFrames(stream, { book, cluster: () => cluster });
  return values;
}

it("keeps what a frame says under the table's names, what is absent as absent and what is zero as zero", async () => {
  const values = await kept(frame);
  expect(values.get("1000 engine:a running")).toBe(7);
  expect(values.get("1000 engine:a waiting")).toBe(0);
  expect(values.get("1000 engine:a endToEndP99Seconds")).toBe(0.2);
  for (const quantity of ["requestsPerSecond", "preemptionsPerSecond", "prefixHitShare"]) {
    expect(values.get(`1000 engine:a ${quantity}`)).toBeNull();
  }
  expect(values.get("1000 gpu:n/1 activity")).toBe(0.5);
  expect(values.get("1000 gpu:n/1/2 activity")).toBe(0.25);
  expect(values.get("1000 gpu:n/1 temperatureCelsius")).toBeNull();
  expect(values.get("1000 stage:m escalatedShare")).toBe(0.5);
  expect(values.get("1000 stage:m p99Seconds")).toBe(3);
  expect(values.get("1000 stage:m ttftP95Seconds")).toBe(0.2);
  expect(values.get("1000 stage:m ttftP99Seconds")).toBeNull();
  expect(values.get("1000 gateway requestsPerSecond")).toBe(9);
  expect(values.get("1000 gateway shedPerSecond")).toBe(2);
  expect(values.get("1000 gateway queuedForAny")).toBe(6);
  expect(values.get("1000 gateway endToEndP95Seconds")).toBe(5);
  expect(values.get("1000 gateway meanQuality")).toBeNull();
  expect(values.get("1000 gateway overheadP95Seconds")).toBe(0.001);
  for (const name of values.keys()) {
    const [, subject = "", quantity = ""] = name.split(" ");
    expect(Object.keys(quantities[kindOf(subject) ?? "gateway"])).toContain(quantity);
  }
});

it("keeps nothing of a target whose values are old", async () => {
  const gpuSources = [{ ...fresh, kind: "dcgm-exporter", name: "dcgm", state: "stale" }] as const;
  const values = await kept(frame, { ...frame, atMs: 2000, gpuSources, gateway: { ...frame.gateway, state: "stale" } });
  expect(values.get("1000 engine:old running")).toBeNull();
  expect(values.get("1000 engine:gone running")).toBeNull();
  expect(values.get("2000 gpu:n/1 activity")).toBeNull();
  expect(values.get("2000 gateway requestsPerSecond")).toBeNull();
  expect(values.get("2000 stage:m queued")).toBeNull();
  expect(values.get("2000 engine:a running")).toBe(7);
});

it("adds up what a stage's engines do and what their GPUs cost, and knows no sums while one of them is silent", async () => {
  const held = (id: string, gpus: number, node = "n", first = 0) => ({
    ...engine,
    id,
    gpus: Array.from({ length: gpus }, (_, at) => ({ node, index: first + at })),
    readings: {
      ...readingsOf(1),
      generationTokensPerSecond: { state: "value", value: 40 } as const,
      preemptionsPerSecond: { state: "value", value: 1 } as const,
      kvUse: { state: "value", value: gpus / 4 } as const,
    },
  });
  const engines = [held("a", 2), held("b", 1, "large"), { ...held("other", 2, "n", 2), model: "another" }];
  const [first, ...rest] = engines;
  if (first === undefined) throw new Error("no engine");
  const values = await kept({ ...frame, engines }, { ...frame, atMs: 2000, engines: [{ ...first, state: "stale" }, ...rest] });
  const at = (atMs: number) =>
    ["tokensPerSecond", "preemptionsPerSecond", "kvUse", "usdPerHour"].map((quantity) => values.get(`${atMs} stage:m ${quantity}`));
  expect(at(1000)).toEqual([80, 2, 0.5, 9]);
  expect(at(2000)).toEqual([null, null, 0.25, 9]);
});

it("says no cost where an engine's GPUs are not known, or a stage has no engine", async () => {
  const values = await kept(frame, { ...frame, atMs: 2000, engines: [] });
  expect(values.get("1000 stage:m usdPerHour")).toBeNull();
  expect(values.get("2000 stage:m usdPerHour")).toBeNull();
});

it("keeps what engines of a model tell also where no gateway is heard", async () => {
  const values = await kept({ ...frame, gateway: { ...frame.gateway, state: "unreachable", stages: [] } });
  expect(values.get("1000 stage:m ttftP95Seconds")).toBe(0.2);
  expect(values.get("1000 stage:m queued") ?? null).toBeNull();
});
