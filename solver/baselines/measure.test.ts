import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../numeric/random";
import { halves } from "./halves";
import { baseSeconds, busiestLoad, drawTraffic, highestRate, measure, routedBy } from "./measure";
import { instanceExplorer, randomInstance } from "./randomInstance";
import type { System } from "./system";

const instance = randomInstance(3);
const { shapes, sample } = instanceExplorer(instance).input;
const { outcomes, arrivalSeconds } = instance.workload;
const { models } = sample;
const rows = Int32Array.from(outcomes.promptIds.keys());
const traffic = drawTraffic({ outcomes, arrivalSeconds, judgeSeconds: 0.27 }, { rows, requests: 1500, seed: 1 });
const choice = { models, shapes };
const prescored = { ...outcomes, models: outcomes.models.map((column) => ({ ...column, routerScore: column.judged })) };

const stage = (model: number, count: number) => ({ model: models[model]!, replicas: [{ shape: { tp: 4, pp: 1 }, count }] });
const cascade = (threshold: number): System => ({
  name: "cascade",
  stages: [stage(0, 1), stage(1, 1)],
  routing: { kind: "cascade", thresholds: [threshold] },
});
const router = (threshold: number): System => ({
  name: "router",
  stages: [stage(0, 1), stage(1, 1)],
  routing: { kind: "router", trained: false, thresholds: [threshold], prescored, qualityLow: 0 },
});
const alone = (model: number): System => ({ name: "alone", stages: [stage(model, 1)], routing: { kind: "cascade", thresholds: [] } });

describe("measure", () => {
  it("sees a router that sends all to one model as that model alone", () => {
    for (const [threshold, model] of [
      [0, 0],
      [101, 1],
    ] as const) {
      expect(measure(router(threshold), traffic, { ...choice, requestsPerSecond: 20 })).toEqual(
        measure(alone(model), traffic, { ...choice, requestsPerSecond: 20 }),
      );
    }
  });

  it("counts the judge and both stages where a cascade sends all on, only the judge where it accepts all, and none at a threshold of 0", () => {
    const at = (system: System) => measure(system, traffic, { ...choice, requestsPerSecond: 1 }).meanSeconds;
    expect(at(cascade(0))).toBeCloseTo(at(alone(0)), 6);
    const lowest = Math.min(...outcomes.models[0]!.judged);
    if (lowest > 0) expect(at(cascade(lowest)) - at(alone(0))).toBeCloseTo(0.27, 6);
    expect(at(cascade(101))).toBeGreaterThan(at(alone(0)) + at(alone(1)));
  });

  it("sees a cascade that starts by a router's score and judges nothing as that router", () => {
    for (const below of [20, 50, 80]) {
      const directStart = { below, router: { kind: "modelled", auc: 0.8 }, prescored } as const;
      const started: System = { ...router(below), routing: { kind: "cascade", thresholds: [0], directStart } };
      const at = { ...choice, requestsPerSecond: 20 };
      expect(measure(started, traffic, at)).toEqual(measure(router(below), traffic, at));
      expect(busiestLoad(started, { outcomes, rows }, at)).toBe(busiestLoad(router(below), { outcomes, rows }, at));
      expect(routedBy(started, outcomes, rows)).toMatchObject({ quality: routedBy(router(below), outcomes, rows).quality });
    }
  });

  it("finds the same quality by routing as the mean over simulated requests would be, each prompt once", () => {
    const { quality, share } = routedBy(cascade(50), outcomes, rows);
    const expected = rows.map((row) => {
      const [small, large] = outcomes.models;
      return small!.judged[row]! >= 50 ? small!.label[row]! : large!.label[row]!;
    });
    expect(quality).toBeCloseTo(expected.reduce((sum, label) => sum + label, 0) / rows.length, 9);
    expect(share[0]).toBe(1);
  });

  it("is slower at a higher rate, and loaded in proportion to it", () => {
    const load = (rate: number) => busiestLoad(cascade(50), { outcomes, rows }, { ...choice, requestsPerSecond: rate });
    expect(load(40)).toBeCloseTo(2 * load(20), 9);
    const p95 = (rate: number) => measure(cascade(50), traffic, { ...choice, requestsPerSecond: rate }).percentileSeconds;
    expect(p95(60)).toBeGreaterThan(p95(2));
  });

  it("is deterministic", () => {
    expect(measure(router(50), traffic, { ...choice, requestsPerSecond: 30 })).toEqual(
      measure(router(50), traffic, { ...choice, requestsPerSecond: 30 }),
    );
  });
});

describe("baseSeconds", () => {
  it("is the latency of a request that meets no other, averaged over the models", () => {
    const unloaded = models.map((model, index) => {
      const system: System = {
        name: model,
        stages: [{ model, replicas: [{ shape: shapes[index]![0]!.shape, count: 1 }] }],
        routing: { kind: "cascade", thresholds: [] },
      };
      const each = { outcomes, prompt: rows, arrivalSeconds: arrivalSeconds.subarray(0, rows.length), judgeSeconds: 0 };
      return measure(system, each, { ...choice, requestsPerSecond: 1e-4 }).meanSeconds;
    });
    const expected = unloaded.reduce((sum, seconds) => sum + seconds, 0) / unloaded.length;
    // The warm-up left out there is in the base.
    expect(Math.abs(baseSeconds(outcomes, rows, choice) / expected - 1)).toBeLessThan(0.05);
  });
});

describe("highestRate", () => {
  it("finds any edge within its reach to a per cent, from wherever it starts", () => {
    fc.assert(
      fc.property(fc.double({ min: 1, max: 1000, noNaN: true }), fc.double({ min: -5, max: 5, noNaN: true }), (edge, start) => {
        const found = highestRate((rate) => rate <= edge, edge * 2 ** start, 1.01);
        expect(found).toBeLessThanOrEqual(edge);
        expect(found).toBeGreaterThan(edge / 1.011);
      }),
    );
  });

  it("is 0 where nothing keeps the deadline", () => {
    expect(highestRate(() => false, 10, 1.01)).toBe(0);
  });
});

describe("halves", () => {
  it("shares all prompts between two halves, by the seed", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 300 }), fc.integer({ min: 0, max: 1000 }), (prompts, seed) => {
        const { planning, measuring } = halves(prompts, seed);
        expect([...planning, ...measuring].sort((a, b) => a - b)).toEqual(Array.from({ length: prompts }, (_, prompt) => prompt));
        expect(planning.length - measuring.length).toBe(prompts % 2);
        expect(halves(prompts, seed)).toEqual({ planning, measuring });
      }),
    );
    const random = seededRandom(1);
    expect(halves(100, random.int(99)).planning).not.toEqual(halves(100, 100 + random.int(99)).planning);
  });
});
