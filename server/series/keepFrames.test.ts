import { expect, it } from "vitest";
import type { LiveFrame } from "@/server/contracts/studio";
import { keepFrames } from "./keepFrames";
import { kindOf, quantities } from "./quantities";

const stage = { model: "m", queued: 3, inFlight: 4, share: 1, escalated: 0.5, p95Seconds: 2, meanJudgedScore: null };
const engine = { id: "a", model: "m", health: "serving", ageSeconds: 0, reason: "", gpus: [] } as const;
const frame: LiveFrame = {
  atMs: 1000,
  clusterId: "c",
  planId: null,
  timeScale: 1,
  engines: [
    { ...engine, state: "fresh", running: 7, waiting: 0, kvUse: null, requestsPerSecond: 1, ttftP95Seconds: 0.2 },
    { ...engine, id: "old", state: "stale", running: 5, waiting: 5, kvUse: 5, requestsPerSecond: 5, ttftP95Seconds: 5 },
  ],
  gpus: [{ node: "n", index: 1, utilisation: 0.5, memoryUsedBytes: 10, memoryTotalBytes: 20, engineId: null }],
  gateway: {
    state: "fresh",
    reason: "",
    requestsPerSecond: 9,
    errorsPerSecond: 0,
    refusedPerSecond: null,
    unjudgedPerSecond: 0,
    ttftP95Seconds: 1,
    stages: [stage],
    routing: null,
  },
  measured: { requests: 0, windowSeconds: 1, p50Seconds: null, p95Seconds: null, meanQuality: null },
};

async function kept(...frames: readonly LiveFrame[]): Promise<ReadonlyMap<string, number | null>> {
  const values = new Map<string, number | null>();
  const stream = (async function* () {
    yield* frames;
  })();
  await keepFrames(stream, { append: (atMs, subject, quantity, value) => void values.set(`${atMs} ${subject} ${quantity}`, value) });
  return values;
}

it("keeps what a frame says under the table's names, what is absent as absent and what is zero as zero", async () => {
  const values = await kept(frame);
  expect(values.get("1000 engine:a running")).toBe(7);
  expect(values.get("1000 engine:a waiting")).toBe(0);
  expect(values.get("1000 engine:a kvUse")).toBeNull();
  expect(values.get("1000 gpu:n/1 activity")).toBe(0.5);
  expect(values.get("1000 stage:m escalatedShare")).toBe(0.5);
  expect(values.get("1000 gateway requestsPerSecond")).toBe(9);
  for (const name of values.keys()) {
    const [, subject = "", quantity = ""] = name.split(" ");
    expect(Object.keys(quantities[kindOf(subject) ?? "gateway"])).toContain(quantity);
  }
});

it("keeps nothing of a target whose values are old", async () => {
  const values = await kept(frame, { ...frame, atMs: 2000, gateway: { ...frame.gateway, state: "stale" } });
  expect(values.get("1000 engine:old running")).toBeNull();
  expect(values.get("2000 gateway requestsPerSecond")).toBeNull();
  expect(values.get("2000 stage:m queued")).toBeNull();
  expect(values.get("2000 engine:a running")).toBe(7);
});
