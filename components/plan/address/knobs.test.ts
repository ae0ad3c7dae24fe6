import { describe, expect, it } from "vitest";
import type { ClusterSummary, WorkloadSummary } from "@/server/contracts/studio";
import { knobsOf, planDefaults } from "./knobs";
import { planCodec } from "./planCodec";

const cluster = {
  spec: {
    nodes: [
      { name: "n1", gpus: 8 },
      { name: "n2", gpus: 4 },
    ],
  },
  suggested: { workloadId: "w2", requestsPerSecond: 40, qualityFloor: 82 },
} as unknown as ClusterSummary;
const workloads = [{ id: "w1" }, { id: "w2" }] as unknown as readonly WorkloadSummary[];
const untouched = planCodec.parse(new URLSearchParams());

describe("plan knobs", () => {
  it("start from what the cluster suggests", () => {
    const defaults = planDefaults(cluster, workloads);
    expect(defaults).toEqual({ workload: "w2", requestsPerSecond: 40, qualityFloor: 82, gpus: 12 });
    expect(knobsOf(untouched, defaults!)).toMatchObject({
      qualityFloor: 82,
      qualityConfidence: 0.9,
      latencyBudgetSeconds: null,
      maxGpus: 12,
    });
  });

  it("never ask for more GPUs than the cluster has", () => {
    const defaults = planDefaults(cluster, workloads)!;
    expect(knobsOf({ ...untouched, gpus: 900 }, defaults).maxGpus).toBe(12);
  });

  it("take the fastest plan at each rate for the highest rate, under the floor and the budget of the view", () => {
    const defaults = planDefaults(cluster, workloads)!;
    const knobs = knobsOf({ ...untouched, kind: "highest-rate", qualityFloor: 70, latencyBudgetSeconds: 6 }, defaults);
    expect(knobs).toMatchObject({ kind: "latency-under-quality", qualityFloor: 70, latencyBudgetSeconds: 6, maxGpus: 12 });
  });

  it("have a slack only where it changes the plan: 0 % still limits the cheapest plan to the fastest one's p95", () => {
    const defaults = planDefaults(cluster, workloads)!;
    const slackOf = (kind: typeof untouched.kind, slack: number | null) => knobsOf({ ...untouched, kind, slack }, defaults).slack;
    expect(slackOf("latency-under-quality", 18)).toBe(0.18);
    expect(slackOf("latency-under-quality", 0)).toBeUndefined();
    expect(slackOf("latency-under-quality", null)).toBeUndefined();
    expect(slackOf("cost-under-both", 0)).toBe(0);
    expect(slackOf("cost-under-both", null)).toBeUndefined();
    expect(slackOf("quality-under-latency", 50)).toBeUndefined();
    expect(slackOf("highest-rate", 50)).toBeUndefined();
  });

  it("have nothing to start from without a workload", () => {
    expect(planDefaults(cluster, [])).toBeNull();
  });
});
