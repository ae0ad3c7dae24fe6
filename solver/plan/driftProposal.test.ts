import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { adviseChange, type ChangeQuestion } from "./driftProposal";

const question: ChangeQuestion = {
  running: { latencySeconds: 6, quality: 82, costUsdPerHour: 96 },
  proposed: { latencySeconds: 4, quality: 81, costUsdPerHour: 96 },
  stages: [{ replicas: 4, restarted: 2, requestsPerSecond: 10, saturationRequestsPerSecond: 16 }],
  restartSeconds: 20,
  requestsPerSecond: 10,
  horizonSeconds: 3600,
  kind: "latency-under-quality",
  qualityFloor: 80,
  latencyBudgetSeconds: null,
};

/** The queue of one restart, integrated in small time steps. */
function waitingStepByStep(arrive: number, { all, less, away }: { all: number; less: number; away: number }): number {
  const step = 0.001;
  let backlog = 0;
  let waiting = 0;
  for (let clock = 0; clock < away || backlog > 1e-9; clock += step) {
    backlog = Math.max(0, backlog + (arrive - (clock < away ? less : all)) * step);
    waiting += backlog * step;
  }
  return waiting;
}

describe("adviseChange", () => {
  it("proposes a gain that outlasts the change", () => {
    const { worthwhile, reason, gain, changeSeconds, waitingRequestSeconds } = adviseChange(question);
    expect(worthwhile).toBe(true);
    expect(reason).toContain("gains 2.00 s");
    expect(gain).toEqual({ latencySeconds: 2, quality: -1, costUsdPerHour: 0 });
    expect([changeSeconds, waitingRequestSeconds]).toEqual([40, 0]);
  });

  it("counts the waiting that restarts cause as a queue followed step by step does", () => {
    const stages = [{ replicas: 2, restarted: 1, requestsPerSecond: 10, saturationRequestsPerSecond: 12 }];
    const { waitingRequestSeconds } = adviseChange({ ...question, stages });
    expect(waitingRequestSeconds / waitingStepByStep(10, { all: 12, less: 6, away: 20 })).toBeCloseTo(1, 2);
    const twice = adviseChange({ ...question, stages: [{ ...stages[0]!, restarted: 2 }] });
    expect(twice.waitingRequestSeconds).toBeCloseTo(2 * waitingRequestSeconds, 9);
  });

  it("leaves the running plan when the traffic lasts too short for the change, or the waiting eats the gain", () => {
    expect(adviseChange({ ...question, horizonSeconds: 30 })).toMatchObject({
      worthwhile: false,
      reason: expect.stringContaining("longer than"),
    });
    const stages = [{ replicas: 2, restarted: 2, requestsPerSecond: 10, saturationRequestsPerSecond: 10.5 }];
    expect(adviseChange({ ...question, stages, restartSeconds: 60, horizonSeconds: 7200 }).worthwhile).toBe(false);
    expect(adviseChange({ ...question, stages, restartSeconds: 60, horizonSeconds: 86_400 }).worthwhile).toBe(true);
  });

  it("judges a plan made for the lowest cost by what it saves, unless a promise is broken", () => {
    const cost: ChangeQuestion = { ...question, kind: "cost-under-both", latencyBudgetSeconds: 7 };
    const cheaper = { ...question.proposed, latencySeconds: 6.5, costUsdPerHour: 72 };
    expect(adviseChange({ ...cost, proposed: cheaper })).toMatchObject({
      worthwhile: true,
      reason: expect.stringContaining("saves $23.73 an hour"),
    });
    expect(adviseChange({ ...cost, proposed: { ...cheaper, costUsdPerHour: 94 } }).worthwhile).toBe(false);
    const late = { ...question.running, latencySeconds: 8 };
    const dearer = { ...cheaper, costUsdPerHour: 120 };
    expect(adviseChange({ ...cost, running: late, proposed: dearer })).toMatchObject({
      worthwhile: true,
      reason: expect.stringContaining("over the budget of 7 s"),
    });
  });

  it("does not propose what predictions may err by", () => {
    const proposed = { ...question.proposed, latencySeconds: 5.8 };
    expect(adviseChange({ ...question, proposed })).toMatchObject({ worthwhile: false, reason: expect.stringContaining("5 %") });
  });

  it("replaces a plan that broke its promise, even by a slower one, and never by one that breaks it too", () => {
    const missed = { ...question, running: { ...question.running, quality: 78, latencySeconds: 3 } };
    expect(adviseChange(missed)).toMatchObject({
      worthwhile: true,
      reason: expect.stringContaining("quality 78.0 is under the floor of 80"),
    });
    expect(adviseChange({ ...missed, proposed: { ...question.proposed, quality: 79 } }).worthwhile).toBe(false);
    const stages = [{ replicas: 4, restarted: 2, requestsPerSecond: 20, saturationRequestsPerSecond: 16 }];
    const drowned = { ...question, stages, running: { ...question.running, latencySeconds: Number.POSITIVE_INFINITY } };
    expect(adviseChange(drowned)).toMatchObject({ worthwhile: true, reason: expect.stringContaining("overloaded") });
    expect(adviseChange({ ...question, latencyBudgetSeconds: 5 }).reason).toContain("6.00 s is over the budget of 5 s");
  });

  it("weighs points of quality when quality is maximised", () => {
    const asked = { ...question, kind: "quality-under-latency" as const, qualityFloor: null, latencyBudgetSeconds: 10 };
    expect(adviseChange(asked).worthwhile).toBe(false);
    expect(adviseChange({ ...asked, proposed: { ...question.proposed, quality: 84 } }).worthwhile).toBe(true);
  });

  it("never turns against a change because it gains more, restarts less or lasts longer", () => {
    const situation = fc.record({
      latency: fc.double({ min: 0.1, max: 12, noNaN: true }),
      restarted: fc.integer({ min: 0, max: 4 }),
      load: fc.double({ min: 1, max: 15.9, noNaN: true }),
      horizonSeconds: fc.double({ min: 1, max: 1e5, noNaN: true }),
    });
    const ask = ({
      latency,
      restarted,
      load,
      horizonSeconds,
    }: {
      latency: number;
      restarted: number;
      load: number;
      horizonSeconds: number;
    }): boolean =>
      adviseChange({
        ...question,
        proposed: { ...question.proposed, latencySeconds: latency },
        stages: [{ replicas: 4, restarted, requestsPerSecond: load, saturationRequestsPerSecond: 16 }],
        horizonSeconds,
      }).worthwhile;
    fc.assert(
      fc.property(situation, (one) => {
        if (!ask(one)) return;
        expect(ask({ ...one, latency: one.latency * 0.9 })).toBe(true);
        expect(ask({ ...one, restarted: Math.max(0, one.restarted - 1) })).toBe(true);
        expect(ask({ ...one, horizonSeconds: 1.5 * one.horizonSeconds })).toBe(true);
      }),
    );
  });
});
