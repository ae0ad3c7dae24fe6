import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Exploration, Knobs } from "../explore/exploration";
import { decodeExploration, encodeExploration } from "../explore/explorationWire";
import { latencyUnderQuality } from "../explore/penalty";
import { judgementsPerRequest } from "../routing/routing";
import { costUsdPerRequest } from "./allocate";
import { choose } from "./choose";

const MAX_GPUS = 6;

/** Three routings: small alone, small then large, large alone. Rates and prices are made up. */
function exploration(): Exploration {
  const none = Number.POSITIVE_INFINITY;
  const small = [4, 2, 1.5, 1.2, 1.1, 1];
  const large = [none, 9, 9, 6, 6, 5];
  const busyLarge = [none, none, none, 14, 14, 8];
  return {
    models: ["small", "large"],
    requestsPerSecond: 10,
    maxGpus: MAX_GPUS,
    leastGpus: [1, 2],
    usdPerGpuHour: 3.6,
    judge: { secondsPerCall: 0.25, usdPerCall: 0.001 },
    qualityConfidence: 0.9,
    routings: [
      { stages: [0], thresholds: [], startBelow: 0, quality: 70, qualityLow: 68, share: [1] },
      { stages: [0, 1], thresholds: [60], startBelow: 0, quality: 82, qualityLow: 80, share: [1, 0.4] },
      { stages: [1], thresholds: [], startBelow: 0, quality: 85, qualityLow: 83, share: [1] },
    ],
    stageP95: Float32Array.from([...small, ...small, ...large, ...busyLarge]),
    tableOffset: Int32Array.from([0, MAX_GPUS, 3 * MAX_GPUS]),
    endToEndWeight: Float32Array.from([1, 0.5, 0.75, 1]),
    endToEndJudgeSeconds: Float32Array.from([0, 0.25, 0]),
  };
}

const knobs: Knobs = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  qualityFloor: 75,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: MAX_GPUS,
};

describe("choose", () => {
  it("takes the fastest routing whose lower bound meets the floor", () => {
    const { chosen, binds } = choose(exploration(), knobs);
    // 2 + 4 GPUs: 0.5 x 2 s + 0.75 x 6 s + 0.25 s of judging.
    expect(chosen).toMatchObject({ routing: 1, gpus: [2, 4], latencySeconds: 5.75 });
    expect(binds).toContain("floor binds");
  });

  it("holds the floor against the point value when no confidence is asked", () => {
    const ask = { ...knobs, qualityFloor: 81 };
    expect(choose(exploration(), ask).chosen?.routing).toBe(2);
    expect(choose(exploration(), { ...ask, qualityConfidence: null }).chosen?.routing).toBe(1);
  });

  it("gives the source's min-max under the largest-stage objective, judge left out", () => {
    const { chosen } = choose(exploration(), { ...knobs, latency: "largest-stage" });
    expect(chosen).toMatchObject({ routing: 1, gpus: [1, 4], latencySeconds: 6 });
  });

  it("maximises quality under a latency budget", () => {
    const ask: Knobs = { ...knobs, kind: "quality-under-latency", qualityFloor: null, latencyBudgetSeconds: 6 };
    expect(choose(exploration(), ask).chosen?.routing).toBe(1);
    expect(choose(exploration(), { ...ask, latencyBudgetSeconds: 8 }).chosen?.routing).toBe(2);
    expect(choose(exploration(), ask).binds).toContain("budget binds");
  });

  it("gives the highest quality within a slack of the fastest, and says what it buys", () => {
    const { chosen, slack, binds } = choose(exploration(), { ...knobs, slack: 1 });
    expect(chosen).toMatchObject({ routing: 2, gpus: [6], latencySeconds: 8 });
    expect(slack).toMatchObject({ limitSeconds: 11.5, fastest: { routing: 1, gpusTotal: 6 } });
    expect(binds).toBe("Slack 100 %: p95 may rise from 5.75 s, the fastest at this floor, to 11.5 s; it buys 3.0 points.");
    const capped = choose(exploration(), { ...knobs, slack: 1, latencyBudgetSeconds: 8 });
    expect(capped.binds).toContain("to 8.00 s, the budget; it buys 3.0 points");
  });

  it("gives the same quality on fewer GPUs where a slack allows only that", () => {
    const { chosen, binds, candidates } = choose(exploration(), { ...knobs, slack: 0.2 });
    // 1 + 4 GPUs: 0.5 x 4 s + 0.75 x 6 s + 0.25 s of judging.
    expect(chosen).toMatchObject({ routing: 1, gpus: [1, 4], latencySeconds: 6.75 });
    expect(candidates[1]).toBe(chosen);
    expect(binds).toContain("to 6.90 s; it buys 1 GPU.");
    expect(choose(exploration(), { ...knobs, slack: 0.1 }).binds).toContain("to 6.33 s; nothing better fits into it.");
  });

  it("gives the lowest cost within a slack of the fastest", () => {
    const ask: Knobs = { ...knobs, kind: "cost-under-both" };
    expect(choose(exploration(), { ...ask, slack: 0 }).chosen).toMatchObject({ routing: 1, gpus: [2, 4] });
    const { chosen, binds } = choose(exploration(), { ...ask, slack: 1 });
    // As many GPUs, but no judge calls.
    expect(chosen).toMatchObject({ routing: 2, gpus: [6], latencySeconds: 8 });
    expect(binds).toContain("it saves 1.00 USD per 1,000 requests.");
  });

  it("says the best quality within reach when no thresholds reach the floor", () => {
    const { chosen, infeasible } = choose(exploration(), { ...knobs, qualityFloor: 95 });
    expect(chosen).toBeNull();
    expect(infeasible).toMatchObject({ bestQuality: 83 });
    expect(infeasible?.reason).toMatch(/floor of 95.*83\.0/);
  });

  it("says the lowest latency within reach when no plan meets the budget", () => {
    const { infeasible } = choose(exploration(), { ...knobs, latencyBudgetSeconds: 0.5, qualityFloor: null });
    expect(infeasible).toMatchObject({ bestLatencySeconds: 1 });
  });

  it("says when floor and budget are each within reach but not together", () => {
    const { infeasible } = choose(exploration(), { ...knobs, latencyBudgetSeconds: 3 });
    expect(infeasible?.reason).toContain("exclude one another");
  });

  it("says that a floor is within reach, but not at this rate on these GPUs, when what reaches it does not keep up", () => {
    const { infeasible } = choose(exploration(), { ...knobs, maxGpus: 1 });
    expect(infeasible).toMatchObject({ bestQuality: 68 });
    expect(infeasible?.reason).toMatch(/floor of 75 is reachable, but not at 10 requests\/s on 1 GPU: at most 68\.0 here/);
    expect(choose(exploration(), { ...knobs, qualityFloor: 99, maxGpus: 1 }).infeasible?.reason).toContain("No thresholds reach");
  });

  it("names the GPUs that bind as many as there are", () => {
    expect(choose(exploration(), { ...knobs, qualityFloor: 60, maxGpus: 64 }).binds).toContain("The 6 GPUs bind");
    expect(choose(exploration(), { ...knobs, qualityFloor: 60, maxGpus: 1 }).binds).toContain("The only GPU binds");
  });

  it("says when nothing keeps up", () => {
    const overloaded = { ...exploration(), stageP95: new Float32Array(4 * MAX_GPUS).fill(Number.POSITIVE_INFINITY) };
    expect(choose(overloaded, knobs).infeasible?.reason).toContain("No routing sustains 10 requests/s");
  });

  it("agrees with the penalty J of the source once its weight is large", () => {
    const given = exploration();
    fc.assert(
      fc.property(fc.double({ min: 60, max: 83, noNaN: true }), fc.integer({ min: 4, max: MAX_GPUS }), (qualityFloor, maxGpus) => {
        const { chosen, candidates } = choose(given, { ...knobs, qualityFloor, maxGpus });
        const asked = { floor: qualityFloor, range: { utopia: 83, nadir: 68 }, weight: 1e9 };
        const scores = candidates.map((one) => latencyUnderQuality({ latencySeconds: one.latencySeconds, quality: one.qualityLow }, asked));
        expect(chosen?.routing).toBe(scores.indexOf(Math.min(...scores)));
      }),
    );
  });

  it("returns as the frontier exactly the candidates that no other beats", () => {
    const { frontier, candidates } = choose(exploration(), knobs);
    expect(frontier).toEqual([0, 1, 2]);
    expect(frontier.map((index) => candidates[index]!.qualityLow)).toEqual([68, 80, 83]);
  });

  it("chooses the same from an exploration that travelled as JSON, Infinity included", () => {
    const travelled = decodeExploration(JSON.parse(JSON.stringify(encodeExploration(exploration()))));
    expect(travelled).toEqual(exploration());
    expect(choose(travelled, { ...knobs, maxGpus: 3 })).toEqual(choose(exploration(), { ...knobs, maxGpus: 3 }));
  });
});

describe("costUsdPerRequest", () => {
  it("adds GPU hours per request and a judge call for every answer that is judged", () => {
    const cost = costUsdPerRequest({
      gpus: 10,
      usdPerGpuHour: 3.6,
      requestsPerSecond: 5,
      judgements: judgementsPerRequest([1, 0.4, 0.1], [60, 50]),
      judge: { usdPerCall: 0.01 },
    });
    expect(cost).toBeCloseTo(0.002 + 0.014, 12);
  });
});
