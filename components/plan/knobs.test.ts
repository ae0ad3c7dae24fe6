import { describe, expect, it } from "vitest";
import type { ClusterSummary, WorkloadSummary } from "@/server/contracts/studio";
import { planCodec } from "./address/planCodec";
import { knobsOf, planDefaults } from "./knobs";

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

  it("have nothing to start from without a workload", () => {
    expect(planDefaults(cluster, [])).toBeNull();
  });
});
