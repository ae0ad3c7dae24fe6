import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Exploration, Knobs } from "../explore/exploration";
import { allocate } from "./allocate";
import { choose } from "./choose";

const MAX_GPUS = 8;

/** Two routings, small alone and small then large, with falling latency tables. */
const explorations = fc
  .record({
    steps: fc.array(fc.double({ min: 0.5, max: 1, noNaN: true }), { minLength: 2 * MAX_GPUS, maxLength: 2 * MAX_GPUS }),
    seconds: fc.tuple(fc.double({ min: 1, max: 9, noNaN: true }), fc.double({ min: 2, max: 20, noNaN: true })),
    least: fc.integer({ min: 1, max: 4 }),
    judge: fc.double({ min: 0, max: 0.001, noNaN: true }),
  })
  .map(({ steps, seconds, least, judge }): Exploration => {
    const table = (stage: number): number[] => {
      let own = seconds[stage]!;
      return Array.from({ length: MAX_GPUS }, (_, f) => {
        own *= steps[stage * MAX_GPUS + f]!;
        return stage === 1 && f + 1 < least ? Number.POSITIVE_INFINITY : own;
      });
    };
    return {
      models: ["small", "large"],
      requestsPerSecond: 10,
      maxGpus: MAX_GPUS,
      leastGpus: [1, least],
      usdPerGpuHour: 3.6,
      judge: { secondsPerCall: 0.25, usdPerCall: judge },
      qualityConfidence: 0.9,
      routings: [
        { stages: [0], thresholds: [], startBelow: 0, quality: 70, qualityLow: 68, share: [1] },
        { stages: [0, 1], thresholds: [60], startBelow: 0, quality: 82, qualityLow: 80, share: [1, 0.4] },
      ],
      stageP95: Float32Array.from([...table(0), ...table(0), ...table(1)]),
      tableOffset: Int32Array.from([0, MAX_GPUS]),
      endToEndWeight: Float32Array.from([1, 0.5, 0.75]),
      endToEndJudgeSeconds: Float32Array.from([0, 0.25]),
    };
  });

describe("the least cost under floor and budget", () => {
  it("is what the cheapest of all routings on all GPU counts within both costs, or on counts from which on all are within", () => {
    const knobs = fc.record<Knobs>({
      kind: fc.constant("cost-under-both"),
      latency: fc.constantFrom("end-to-end", "largest-stage"),
      qualityFloor: fc.constantFrom(null, 60, 75, 81),
      qualityConfidence: fc.constantFrom(null, 0.9),
      latencyBudgetSeconds: fc.constantFrom(null, 1, 3, 8),
      maxGpus: fc.integer({ min: 1, max: 2 * MAX_GPUS }),
    });
    fc.assert(
      fc.property(explorations, knobs, (exploration, asked) => {
        const budget = asked.latencyBudgetSeconds ?? Number.MAX_VALUE;
        let [least, most] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
        for (const [routing, { quality, qualityLow }] of exploration.routings.entries()) {
          if ((asked.qualityConfidence === null ? quality : qualityLow) < (asked.qualityFloor ?? 0)) continue;
          const all = Math.min(asked.maxGpus, MAX_GPUS);
          const down = Array.from({ length: all }, (_, less) =>
            allocate(exploration, routing, { gpus: all - less, latency: asked.latency }),
          );
          const isWithin = down.map(({ latencySeconds }) => latencySeconds <= budget);
          // A routing is chosen only where all GPUs reach the budget.
          if (isWithin[0] !== true) continue;
          // A count is sure to be found where every larger one is within the budget, too.
          const sure = down.slice(0, [...isWithin, false].indexOf(false));
          most = Math.min(most, ...sure.map(({ costUsdPerRequest }) => costUsdPerRequest));
          least = Math.min(least, ...down.filter((_, at) => isWithin[at]).map(({ costUsdPerRequest }) => costUsdPerRequest));
        }
        const { chosen, candidates } = choose(exploration, asked);
        expect(candidates.map(({ routing }) => routing)).toEqual([0, 1]);
        const cost = chosen?.costUsdPerRequest ?? Number.POSITIVE_INFINITY;
        expect(cost).toBeGreaterThanOrEqual(least);
        expect(cost).toBeLessThanOrEqual(most);
        if (asked.latency === "largest-stage") expect(cost).toBe(least);
        if (chosen !== null) expect(chosen.latencySeconds).toBeLessThanOrEqual(asked.latencyBudgetSeconds ?? Number.MAX_VALUE);
      }),
      { numRuns: 300 },
    );
  });
});

it("may take fewer GPUs to be faster end to end, since more of them tighten the limit on the slowest stage, but never for the largest stage", () => {
  const tables = [
    [8, 5, 3, 2.9, 1, 1, 1],
    [6, 5, 4, 3, 3, 3, 3],
  ];
  const exploration: Exploration = {
    models: ["small", "large"],
    ...{ requestsPerSecond: 10, maxGpus: 7, leastGpus: [1, 1], usdPerGpuHour: 3.6, qualityConfidence: 0.9 },
    judge: { secondsPerCall: 0, usdPerCall: 0 },
    routings: [{ stages: [0, 1], thresholds: [60], startBelow: 0, quality: 82, qualityLow: 80, share: [1, 0.4] }],
    stageP95: Float32Array.from(tables.flat()),
    tableOffset: Int32Array.of(0),
    endToEndWeight: Float32Array.of(1, 0.125),
    endToEndJudgeSeconds: Float32Array.of(0),
  };
  const on = (gpus: number, latency: Knobs["latency"]) => allocate(exploration, 0, { gpus, latency }).latencySeconds;
  // On 6 the slowest stage takes 4 s at best, so that 6 s are allowed; on 7 it takes 3 s, and the large model needs 3 GPUs to keep 4.5 s.
  expect([on(6, "end-to-end"), on(7, "end-to-end")]).toEqual([expect.closeTo(1.75, 6), expect.closeTo(3.375, 6)]);
  expect([on(6, "largest-stage"), on(7, "largest-stage")]).toEqual([4, 3]);
});
