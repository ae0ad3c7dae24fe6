import { describe, expect, it } from "vitest";
import type { LiveFrame } from "@/server/contracts/studio";
import { identifyModels } from "../ui/modelIdentity";
import { engineRows, heatNodes, needsAttention, queueSeries, stageRows } from "./prepareLive";

const identities = identifyModels(["small-8b"]);

function frame(change: Partial<LiveFrame> = {}): LiveFrame {
  return {
    atMs: 1000,
    clusterId: "c",
    planId: null,
    timeScale: 1,
    engines: [],
    gpus: [],
    gateway: { state: "fresh", reason: "", requestsPerSecond: null, errorsPerSecond: null, ttftP95Seconds: null, stages: [] },
    measured: { requests: 0, windowSeconds: 0, p50Seconds: null, p95Seconds: null, meanQuality: null },
    ...change,
  };
}

function engine(id: string, running: number | null, state: "fresh" | "unreachable" = "fresh") {
  return {
    id,
    model: "small-8b",
    state,
    ageSeconds: 0,
    reason: state === "fresh" ? "" : "connection refused",
    running,
    waiting: running,
    kvUse: 0.5,
    requestsPerSecond: 1,
    ttftP95Seconds: 0.2,
    gpus: [],
  };
}

describe("live preparers", () => {
  it("leave a stage of the plan in place while the gateway has measured nothing of it", () => {
    const plan = {
      policy: { stages: [{ model: "small-8b" }] },
      predictions: { stages: [{ model: "small-8b", p95Seconds: 3, share: 1 }] },
    } as unknown as Parameters<typeof stageRows>[1];
    expect(stageRows(frame(), plan, identities)[0]).toMatchObject({ measured: null, predictedP95Seconds: 3 });
  });

  it("give an engine that was not there a gap in its sparkline", () => {
    const rows = engineRows([frame(), frame({ engines: [engine("e1", 2)] })], identities);
    expect(rows[0]?.kvUse).toEqual([null, 0.5]);
  });

  it("sum queues over engines, and keep the sum absent when no engine answered", () => {
    const [running, waiting] = queueSeries(["small-8b"], identities);
    const busy = frame({ engines: [engine("e1", 2), engine("e2", null)] });
    expect([running?.read(busy), waiting?.read(busy)]).toEqual([2, 2]);
    expect(running?.read(frame({ engines: [engine("e2", null)] }))).toBeNull();
  });

  it("keep a GPU whose memory is not reported without a share", () => {
    const gpu = { node: "n1", index: 0, utilisation: 0.4, memoryUsedBytes: null, memoryTotalBytes: 80, engineId: null };
    expect(heatNodes(frame({ gpus: [gpu] }))[0]?.gpus[0]?.memoryUse).toBeNull();
  });

  it("list what needs attention with its reason, and nothing when all is well", () => {
    expect(needsAttention(frame({ engines: [engine("e1", 1)] }))).toEqual([]);
    expect(needsAttention(frame({ engines: [engine("e2", null, "unreachable")] }))).toEqual([
      { subject: "e2", word: "unreachable", reason: "connection refused" },
    ]);
  });
});
