import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dataConcurrent, listScheduling, roundRobin } from "./baselineSchedules";
import { placeExperts } from "./placeExperts";
import type { PlacedExpert, Schedule } from "./placement";
import { anyPlacement, leastByTrying } from "./placementContract";
import { keepsLimits, linearGround, promptSeconds } from "./placementGround";
import { bentCost, checkInstance, linearCost, noEngine } from "./testPlacements";
import { timeSchedule } from "./timeSchedule";

const limits = { engine: noEngine, timeLimitSeconds: 1 };

function placed(problem: Parameters<typeof placeExperts>[0]) {
  const answer = placeExperts(problem, limits);
  if (!answer.ok) throw new Error(answer.message);
  return answer.value;
}

const makespanSeconds = (experts: readonly PlacedExpert[], schedule: Schedule): number => timeSchedule(experts, schedule).makespanSeconds;

describe("placed experts", () => {
  it("have every prompt on one worker, within K and caps, timed as they are", () => {
    fc.assert(
      fc.property(anyPlacement({ experts: 6, workers: 4, prompts: 100, bent: true }), (problem) => {
        const { schedule, timed, maxModelsPerWorker, says } = placed(problem);
        expect(maxModelsPerWorker).toBe(
          problem.experts.some(({ prompts }) => prompts > 0) ? problem.maxModelsPerWorker : maxModelsPerWorker,
        );
        expect(schedule.workers).toHaveLength(problem.workers);
        for (const [expert, { prompts }] of problem.experts.entries()) {
          const sessions = schedule.workers.map((line) => line.filter((session) => session.expert === expert));
          expect(sessions.flat().reduce((sum, session) => sum + session.prompts, 0)).toBe(prompts);
          expect(Math.max(...sessions.map(({ length }) => length))).toBeLessThanOrEqual(1);
        }
        expect(schedule.workers.flat().every(({ prompts }) => Number.isInteger(prompts) && prompts > 0)).toBe(true);
        expect(keepsLimits(linearGround(problem), schedule)).toBe(true);
        expect(timed).toEqual(timeSchedule(problem.experts, schedule));
        expect(says).toHaveLength(problem.experts.length);
      }),
      { numRuns: 10 },
    );
  });

  it("are done no later than any baseline within the same K and caps, and no earlier than their bound where costs are linear", () => {
    fc.assert(
      fc.property(anyPlacement({ experts: 6, workers: 4, prompts: 100, bent: true }), (problem) => {
        const { timed, solved } = placed(problem);
        const shards = { ...dataConcurrent(problem), barrier: false };
        const allowed = keepsLimits(linearGround(problem), shards) ? [shards] : [];
        for (const baseline of [roundRobin(problem), listScheduling(problem), ...allowed]) {
          if (baseline === null) throw new Error("there is room for all");
          const other = makespanSeconds(problem.experts, baseline);
          expect(timed.makespanSeconds).toBeLessThanOrEqual(other * (1 + 1e-9));
        }
        expect(solved.lowerBoundSeconds).toBeLessThanOrEqual(solved.makespanSeconds);
        const linear = {
          ...problem,
          experts: problem.experts.map((each) => ({
            ...each,
            cost: linearCost(promptSeconds({ ...each, prompts: Math.max(1, each.prompts) })),
          })),
        };
        const again = placed(linear);
        expect(again.timed.makespanSeconds).toBeGreaterThanOrEqual(again.solved.lowerBoundSeconds * (1 - 1e-9));
      }),
      { numRuns: 10 },
    );
  });

  it("are as good as the best of all schedules on tiny problems, and their bound is below it", () => {
    fc.assert(
      fc.property(anyPlacement({ experts: 3, workers: 2, prompts: 7, bent: true }), (problem) => {
        const { timed } = placed(problem);
        const least = leastByTrying(problem);
        expect(timed.makespanSeconds).toBeGreaterThanOrEqual(least * (1 - 1e-9));
        expect(timed.makespanSeconds).toBeLessThanOrEqual(least * (1 + 1e-6) + 1e-9);
        const linear = { ...problem, experts: problem.experts.map((each) => ({ ...each, cost: linearCost(each.cost(1)) })) };
        expect(placed(linear).solved.lowerBoundSeconds).toBeLessThanOrEqual(leastByTrying(linear) * (1 + 1e-9));
      }),
      { numRuns: 20 },
    );
  });

  it("are never later with the session cost than the ILP's own schedule is with it", () => {
    const experts = checkInstance(2).experts.map((each, index) => ({ ...each, cost: bentCost(promptSeconds(each), 20 * (index + 1)) }));
    const { timed, solved, schedule } = placed({ ...checkInstance(3), experts });
    // The ILP's costs are straight lines to the whole session: shards of it are dearer.
    expect(timed.makespanSeconds).toBeGreaterThan(solved.makespanSeconds);
    const counts = schedule.workers.map((line) => line.length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(3);
    for (const [from, sessions] of schedule.workers.entries())
      for (const [to, others] of schedule.workers.entries())
        for (const session of sessions) {
          // No single prompt is better off on another worker that has its expert.
          if (from === to || session.prompts === 1 || !others.some(({ expert }) => expert === session.expert)) continue;
          const moved = schedule.workers.map((line, worker) =>
            line.map((each) => {
              if (each.expert !== session.expert || (worker !== from && worker !== to)) return each;
              return { ...each, prompts: each.prompts + (worker === from ? -1 : 1) };
            }),
          );
          const movedSeconds = makespanSeconds(experts, { workers: moved, barrier: false });
          expect(movedSeconds).toBeGreaterThanOrEqual(timed.makespanSeconds * (1 - 1e-9));
        }
  });

  it("are done no later on more workers", () => {
    const seconds = [4, 5, 6].map((workers) => placed({ ...checkInstance(2), workers }).timed.makespanSeconds);
    for (const [index, each] of seconds.slice(1).entries()) expect(each).toBeLessThanOrEqual((seconds[index] ?? 0) * (1 + 1e-9));
  });

  it("are swept over K where it is left open: each no worse than the one before, and the best is taken", () => {
    const { sweep, maxModelsPerWorker, timed, solved } = placed({ ...checkInstance(2), maxModelsPerWorker: null });
    expect(sweep[0]?.maxModelsPerWorker).toBe(2);
    for (const [index, { makespanSeconds: each }] of sweep.slice(1).entries())
      expect(each).toBeLessThanOrEqual((sweep[index]?.makespanSeconds ?? 0) * (1 + 1e-9));
    expect(timed.makespanSeconds).toBeCloseTo(Math.min(...sweep.map(({ makespanSeconds: each }) => each)), 6);
    expect(sweep.map((each) => each.maxModelsPerWorker)).toContain(maxModelsPerWorker);
    expect(solved.lowerBoundSeconds).toBeLessThanOrEqual(timed.makespanSeconds);
  });

  it("are told to be too many in one sentence with the way out", () => {
    expect(placeExperts(checkInstance(1), limits)).toEqual({
      ok: false,
      message:
        "6 experts are asked something, but 4 workers with 1 model each have room for 4: allow 2 models per worker, or give it 6 workers.",
    });
  });

  it("that are asked nothing are on no worker", () => {
    const experts = checkInstance(2).experts.map((each) => ({ ...each, prompts: 0 }));
    const { timed, solved, schedule } = placed({ ...checkInstance(2), experts, maxModelsPerWorker: null });
    expect(schedule.workers).toEqual([[], [], [], []]);
    expect(timed.makespanSeconds).toBe(0);
    expect(solved).toEqual({ makespanSeconds: 0, lowerBoundSeconds: 0, gap: 0, proven: true });
  });

  it("come with what a worker more or fewer would change", () => {
    const { says } = placed(checkInstance(2));
    expect(says[0]).toBe(
      "On 2 workers of at most 4: its 2504 s of answering are 59 loads of 42 s. No worker has room for one more of it at 2 models each; one fewer would make the whole 1161 s longer.",
    );
    expect(says[3]).toBe("On 1 worker of at most 1: its 66 s of answering are 1 load of 40 s. It may be on no more.");
    const single = placed({ ...checkInstance(2), replicas: "single" });
    expect(single.says[0]).toContain("as each expert is to be on one only");
  });
});
