import { describe, expect, it } from "vitest";
import type { Candidate, Exploration, Knobs } from "../explore/exploration";
import { alternativesTo } from "./alternatives";

const none = Number.POSITIVE_INFINITY;

/** The report on alternatives reads routings and candidates only; the tables behind them stay empty. */
function exploration(stages: readonly (readonly number[])[], requestsPerSecond = 1): Exploration {
  return {
    models: ["small", "large"].slice(0, 1 + Math.max(...stages.flat())),
    requestsPerSecond,
    maxGpus: 4,
    leastGpus: [1, 4],
    usdPerGpuHour: 3,
    judge: { secondsPerCall: 0.25, usdPerCall: 0 },
    qualityConfidence: 0.9,
    routings: stages.map((own) => ({
      stages: own,
      thresholds: own.slice(1).map(() => 50),
      startBelow: 0,
      quality: 0,
      qualityLow: 0,
      share: [1],
    })),
    stageP95: new Float32Array(),
    tableOffset: new Int32Array(),
    endToEndWeight: new Float32Array(),
    endToEndJudgeSeconds: new Float32Array(),
  };
}

const candidate = (routing: number, quality: number, latencySeconds: number): Candidate => ({
  routing,
  gpus: [1],
  gpusTotal: 1,
  latencySeconds,
  costUsdPerRequest: 0.01,
  quality,
  qualityLow: quality - 1,
});

const knobs: Knobs = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  qualityFloor: 60,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: 64,
};
const chosen = { routing: 0, verifiedSeconds: 2, deployment: [{ gpus: 3 }] };
const ladder = [[0], [0, 1], [1]];

describe("alternativesTo", () => {
  it("tells models that do not fit together from a cascade that does not keep up, with the GPUs that there are", () => {
    const candidates = [candidate(0, 70, 2), candidate(1, 80, none), candidate(2, 85, none)];
    const { list } = alternativesTo({ exploration: exploration(ladder), candidates, knobs, finalist: chosen, verified: [] });
    expect(list.map(({ reason }) => reason)).toEqual([
      "is overloaded at 1 request/s on 4 GPUs",
      "needs 5 GPUs for one replica of each of its models, of 4 there are",
    ]);
  });

  it("says by how much a rival lost that was simulated whole too", () => {
    const candidates = [candidate(0, 70, 2), candidate(1, 80, 1.95), candidate(2, 85, 9)];
    const verified = [{ routing: 1, verifiedSeconds: 2.25 }];
    const { list, why } = alternativesTo({ exploration: exploration(ladder), candidates, knobs, finalist: chosen, verified });
    expect(list[0]).toMatchObject({ p95Seconds: 2.25, reason: "2.25 s simulated whole, 0.25 s more than this plan" });
    expect(why.join(" ")).toContain("small > large: 2.25 s simulated whole");
  });

  it("does not speak of cascades where the ladder has one model, nor of a judge where the next best is one model", () => {
    const alone = { candidates: [candidate(0, 70, 2)], knobs, finalist: chosen, verified: [] };
    expect(alternativesTo({ exploration: exploration([[0]]), ...alone }).why.join()).toContain("the ladder has no other model");
    const two = { ...alone, candidates: [candidate(0, 70, 2), candidate(1, 85, 9)] };
    const { why } = alternativesTo({ exploration: exploration([[0], [1]]), ...two });
    expect(why[0]).toMatch(/the next best takes 9\.00 s\.$/);
  });
});
