import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import type { CascadePolicy } from "@/solver/plan/plan";
import type { SlackPolicy } from "@/solver/plan/policySchema";
import { withRouterScores } from "@/solver/workload/modelledRouter";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import { type ServingEngine, type ServingTraffic, servingFiguresOf, servingRefusal } from "./servingFigures";

const [small, large, judge] = ["qwen2.5-3b", "qwen2.5-7b", "gemma-2-9b"] as const;
const workload = shortWorkload({ prompts: 400, ladder: [small, large], seed: 5 });
const traffic: ServingTraffic = { workload, requestsPerSecond: 4, cards: catalogueOf(noUserCards), profile: vllmProfile };
const policy: CascadePolicy = {
  kind: "cascade",
  stages: [{ model: small }, { model: large }],
  thresholds: [60],
  judge: { model: "judge", secondsPerCall: 0.2, usdPerCall: 0 },
  order: { kind: "fcfs" },
  place: { kind: "least-load" },
  approvedRanges: { thresholds: [{ min: 60, max: 60 }] },
};
const judged: CascadePolicy = { ...policy, judge: { ...policy.judge, model: judge, engine: { rubricTokens: 200, outputTokens: 8 } } };
const engine = (model: string): ServingEngine => ({ model, gpu: "l40s", tp: 1, pp: 1, maxInFlight: 256 });
const engines = (...models: readonly string[]) => models.map(engine);

describe("servingFiguresOf", { timeout: 120_000 }, () => {
  const figuresOf = servingFiguresOf(traffic);

  it("sustains no less with an engine more, and is as fast or faster where it keeps up", () => {
    const counts = fc.record({
      smalls: fc.integer({ min: 1, max: 3 }),
      larges: fc.integer({ min: 1, max: 3 }),
      more: fc.constantFrom(small, large),
    });
    fc.assert(
      fc.property(counts, ({ smalls, larges, more }) => {
        const few = [...Array(smalls).fill(small), ...Array(larges).fill(large)] as string[];
        const [before, after] = [few, [...few, more]].map((models) => figuresOf({ policy, engines: engines(...models) }));
        expect(after?.capacityPerSecond ?? 0).toBeGreaterThanOrEqual(before?.capacityPerSecond ?? 0);
        expect(after?.p95Seconds ?? 0).toBeLessThanOrEqual(1.05 * (before?.p95Seconds ?? Number.POSITIVE_INFINITY));
      }),
      { numRuns: 6 },
    );
  });

  it("serves nothing where a model that requests reach has no engine, and names it", () => {
    expect(figuresOf({ policy, engines: engines(small) })).toMatchObject({ unserved: [large], capacityPerSecond: null, p95Seconds: null });
  });

  it("predicts the cascade that remains where a model is lost: the larger alone, or the smaller for as many as may have its answers", () => {
    const alone = (model: string) =>
      figuresOf({
        policy: { ...policy, stages: [{ model }], thresholds: [], approvedRanges: { thresholds: [] } },
        engines: engines(model),
      });
    const lost = { lowerMayAnswer: true };
    const [whole, larger] = [figuresOf({ policy, engines: engines(small, large) }), figuresOf({ policy, engines: engines(large), lost })];
    expect(larger.p95Seconds).toBeCloseTo(alone(large).p95Seconds!, 6);
    expect(larger).toMatchObject({
      unserved: [small],
      quality: alone(large).quality,
      capacityPerSecond: alone(large).capacityPerSecond,
      refusedShare: 0,
    });
    const smaller = figuresOf({ policy, engines: engines(small), lost });
    expect(smaller).toMatchObject({ unserved: [large], quality: alone(small).quality, refusedShare: 0 });
    // It is judged all the same: an answer above the threshold has its usual quality.
    expect(smaller.p95Seconds!).toBeGreaterThan(alone(small).p95Seconds!);
    expect(whole.quality!).toBeGreaterThan(smaller.quality!);
    const strict = figuresOf({ policy, engines: engines(small), lost: { lowerMayAnswer: false } });
    expect(strict.refusedShare).toBeGreaterThan(0);
    expect(strict.refusedShare).toBeLessThan(1);
    expect(strict.quality!).toBeGreaterThan(smaller.quality!);
  });

  it("keeps up with no rate above its capacity", () => {
    const { capacityPerSecond } = figuresOf({ policy, engines: engines(small, large) });
    const busy = servingFiguresOf({ ...traffic, requestsPerSecond: 1.01 * (capacityPerSecond ?? 0) });
    expect(busy({ policy, engines: engines(small, large) })).toMatchObject({ capacityPerSecond, p95Seconds: null });
  });

  it("is bound by a judge that is an engine; without one it accepts every answer, or asks the largest at once, as the plan says", () => {
    const all = figuresOf({ policy: judged, engines: engines(small, large, large, large, judge) });
    expect(all.capacityPerSecond).not.toBeNull();
    const accepting = figuresOf({ policy: judged, engines: engines(small, large) });
    expect(accepting.longestSeconds).not.toHaveProperty(large);
    const largest: CascadePolicy = { ...judged, judge: { ...judged.judge, whenDown: "largest" } };
    const asked = figuresOf({ policy: largest, engines: engines(small, large) });
    expect(Object.keys(asked.longestSeconds)).toEqual([large]);
    expect(asked.capacityPerSecond!).toBeLessThan(accepting.capacityPerSecond!);
  });
});

describe("servingFiguresOf cascade routing", { timeout: 120_000 }, () => {
  const byGain: CascadePolicy = {
    ...judged,
    directStart: { below: [0], router: { kind: "trained", predictor: "ab".repeat(32) } },
    cascadeRouting: {
      pointsPerGpuSecond: 5,
      gpuSeconds: [1, 4],
      heads: [0, 1].map(() => ({ centre: 0, slope: 1 })),
      patterns: [-2, -3, -1, -1],
      gates: [{ calibration: { raw: [0, 100], calibrated: [0, 100] }, levels: [20, 80].map((score) => ({ score, share: 0.5 })) }],
    },
  };
  const scored = { ...traffic, workload: { ...workload, outcomes: withRouterScores(workload.outcomes, { auc: 0.8, seed: 3 }) } };
  const figuresOf = servingFiguresOf(scored);

  it("goes on without its judge's engine, and without one of its models", () => {
    const whole = figuresOf({ policy: byGain, engines: engines(small, large, large, judge) });
    expect(whole.p95Seconds).not.toBeNull();
    const unjudged = figuresOf({ policy: byGain, engines: engines(small, large, large) });
    expect(unjudged).toMatchObject({ unserved: [], refusedShare: 0 });
    expect(unjudged.capacityPerSecond!).toBeGreaterThan(0);
    expect(unjudged.quality!).toBeGreaterThan(0);
    const lost = figuresOf({ policy: byGain, engines: engines(large, large, judge), lost: { lowerMayAnswer: true } });
    expect(lost).toMatchObject({ unserved: [small], refusedShare: 0 });
    expect(lost.capacityPerSecond!).toBeGreaterThan(0);
  });

  it("serves over another gate as over the judge where the scores are the same, and without waiting for it", () => {
    const models = scored.workload.outcomes.models.map((own) => {
      const judgedScores = own.judged.map(Math.round);
      return { ...own, judged: judgedScores, confidence: judgedScores };
    });
    const alike = { ...scored, workload: { ...scored.workload, outcomes: { ...scored.workload.outcomes, models } } };
    const calibration = { raw: [0, 100], calibrated: [0, 100] };
    const { cascadeRouting } = byGain;
    if (cascadeRouting === undefined) throw new Error("the policy has cascade routing");
    const fitted = cascadeRouting.gates.map((gate) => gate && { ...gate, kind: "confidence" as const, gpuSeconds: 0 });
    const gated: CascadePolicy = {
      ...byGain,
      gates: [{ kind: "confidence", measure: "minimum", calibration }],
      cascadeRouting: { ...cascadeRouting, gates: fitted },
    };
    const all = engines(small, large, large, judge);
    expect(servingRefusal(alike, { policy: gated, engines: all })).toBeNull();
    const [over, judgedOver] = [gated, byGain].map((policy) => servingFiguresOf(alike)({ policy, engines: all }));
    expect(over?.quality).toBe(judgedOver?.quality);
    expect(over?.share).toEqual(judgedOver?.share);
    expect(over!.p95Seconds!).toBeLessThan(judgedOver!.p95Seconds!);
  });
});

describe("servingFiguresOf slack dispatch", { timeout: 120_000 }, () => {
  const figuresOf = servingFiguresOf(traffic);
  const dispatch = (tau: number): SlackPolicy => ({
    ...{ kind: "slack", tau, deltaScore: 0, floorSeconds: 0.5, order: { kind: "fcfs" }, place: { kind: "least-load" } },
    models: [
      { model: small, decodeSecondsPerToken: 0.012, maxBatchSize: 64, confidence: 0.5 },
      { model: large, decodeSecondsPerToken: 0.024, maxBatchSize: 64, confidence: 0.8 },
    ],
    approvedRanges: { tau: { min: 0, max: 8 }, deltaScore: { min: 0, max: 1 } },
  });

  it("sends no fewer requests to the surer model with more slack, for no lower quality, and answers each once", () => {
    const taus = [0, 0.5, 2, 8];
    const figures = taus.map((tau) => figuresOf({ policy: dispatch(tau), engines: engines(small, large) }));
    for (const [at, { share, quality, unserved }] of figures.entries()) {
      expect(unserved).toEqual([]);
      expect(share[0]! + share[1]!).toBeCloseTo(1, 9);
      const before = figures[at - 1];
      if (before === undefined) continue;
      expect(share[1]!).toBeGreaterThanOrEqual(before.share[1]!);
      expect(quality!).toBeGreaterThanOrEqual(before.quality!);
    }
    expect(figures.at(-1)!.quality!).toBeGreaterThan(figures[0]!.quality!);
  });

  it("sustains what all engines together do, and goes on with the other model where one has none", () => {
    const { capacityPerSecond } = figuresOf({ policy: dispatch(1), engines: engines(small, large) });
    const alone = figuresOf({ policy: dispatch(1), engines: engines(large) });
    expect(alone).toMatchObject({ unserved: [small], share: [0, 1] });
    expect(alone.capacityPerSecond!).toBeLessThan(capacityPerSecond!);
    expect(figuresOf({ policy: dispatch(1), engines: [] })).toMatchObject({ capacityPerSecond: null, quality: null, share: [] });
    const busy = servingFiguresOf({ ...traffic, requestsPerSecond: 1.01 * (capacityPerSecond ?? 0) });
    expect(busy({ policy: dispatch(1), engines: engines(small, large) })).toMatchObject({ capacityPerSecond, p95Seconds: null });
  });
});

describe("servingRefusal", () => {
  it("names what has no card, what does not fit and what the workload knows nothing of", () => {
    const refused = (serving: Parameters<typeof servingRefusal>[1]) => servingRefusal(traffic, serving);
    expect(refused({ policy, engines: engines(small, large) })).toBeNull();
    expect(refused({ policy, engines: [{ ...engine(small), gpu: "abacus" }] })).toBe("There is no card of abacus.");
    expect(refused({ policy, engines: engines("gpt-9") })).toBe("There is no card of gpt-9.");
    expect(refused({ policy, engines: engines("llama-3.1-70b") })).toMatch(/^llama-3\.1-70b with tp 1 and pp 1 does not fit l40s/);
    const foreign = { ...policy, stages: [{ model: "gemma-2-2b" }, { model: large }] };
    expect(refused({ policy: foreign, engines: [] })).toMatch(/has no answers of gemma-2-2b\.$/);
  });
});
