import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MilpEngine } from "@/solver/milp/engine";
import type { MilpModel } from "@/solver/milp/model";
import { seededRandom } from "@/solver/numeric/random";
import { anyPlacement, leastByTrying } from "../testing/placementContract";
import { bentCost, checkInstance, linearCost, noEngine } from "../testing/testPlacements";
import { dataConcurrent, listScheduling, roundRobin } from "./baselineSchedules";
import { placeExperts } from "./placeExperts";
import type { PlacedExpert, Schedule, SessionCost } from "./placement";
import { combinatorialBound } from "./placementBound";
import { keepsLimits, linearContext, promptSeconds } from "./placementContext";
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
        expect(keepsLimits(linearContext(problem), schedule)).toBe(true);
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
        const allowed = keepsLimits(linearContext(problem), shards) ? [shards] : [];
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
    // The ILP's costs are linear up to the whole session: shards of it cost more.
    expect(timed.makespanSeconds).toBeGreaterThan(solved.makespanSeconds);
    const counts = schedule.workers.map((line) => line.length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(3);
    for (const [from, sessions] of schedule.workers.entries())
      for (const [to, others] of schedule.workers.entries())
        for (const session of sessions) {
          // No single prompt would end earlier on another worker that has its expert.
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

  it("of a sweep are done no more than 0.5 % later than under any K that is given, where small shards waste much", () => {
    // Costs linear up to the whole session are far below those of shards: a placement at the linear bound may still be improved.
    for (const seed of [14, 17, 25, 30, 54]) {
      const random = seededRandom(seed);
      const experts = Array.from({ length: 2 + random.int(3) }, (_, at) => ({
        ...{ name: `expert ${at}`, prompts: 50 + random.int(900), loadSeconds: 5 + random.int(15) },
        cost: bentCost(0.03 + 0.7 * random.next(), random.int(2) * 150 * random.next()),
      }));
      const problem = { workers: experts.length + random.int(4), replicas: "amortised" as const, experts };
      const sweptSeconds = placed({ ...problem, maxModelsPerWorker: null }).timed.makespanSeconds;
      for (const [index] of experts.entries())
        expect(sweptSeconds).toBeLessThanOrEqual(placed({ ...problem, maxModelsPerWorker: index + 1 }).timed.makespanSeconds * 1.005);
    }
  });

  it("of a sweep are bounded by the widest K, not by what is proven of the one that is taken", () => {
    const experts = [7, 5, 3].map((prompts, at) => ({ name: `expert ${at}`, prompts, loadSeconds: 0.5, cost: linearCost(1) }));
    const problem = { workers: 2, replicas: "amortised" as const, experts };
    const widest = { ...problem, maxModelsPerWorker: 3 };
    const bound = combinatorialBound(linearContext(widest));
    const least = leastByTrying({ ...problem, maxModelsPerWorker: 2 });
    expect(least).toBeGreaterThan(bound * 1.001);
    // Nothing is shorter with the smallest K, which is correct; whether with the largest, the engine does not determine.
    const roomOf = (model: MilpModel): number => model.rows.find(({ name }) => name === "models_0")?.bound ?? 0;
    const engine: MilpEngine = { name: "one K", solve: (model) => ({ status: roomOf(model) === 2 ? "infeasible" : "undecided" }) };
    const answer = placeExperts({ ...problem, maxModelsPerWorker: null }, { engine, timeLimitSeconds: 1 });
    if (!answer.ok) throw new Error(answer.message);
    const { timed, solved, maxModelsPerWorker, sweep } = answer.value;
    expect({ maxModelsPerWorker, seconds: timed.makespanSeconds }).toEqual({ maxModelsPerWorker: 2, seconds: least });
    expect(sweep).toHaveLength(2);
    expect(solved.lowerBoundSeconds).toBeLessThanOrEqual(bound);
    expect(solved.proven).toBe(false);
  });

  it("are sharded evenly where engines answer in turns that other splits would leave part empty", () => {
    const inTurns =
      (seconds: number, atOnce: number): SessionCost =>
      (prompts) =>
        seconds * Math.ceil(prompts / atOnce);
    const experts = [
      { name: "a", prompts: 100, loadSeconds: 10, cost: inTurns(200, 50) },
      { name: "b", prompts: 150, loadSeconds: 10, cost: inTurns(120, 75) },
    ];
    const problem = { workers: 2, maxModelsPerWorker: 2, replicas: "amortised" as const, experts };
    const shards = { ...dataConcurrent(problem), barrier: false };
    expect(makespanSeconds(experts, shards)).toBe(340);
    expect(placed(problem).timed.makespanSeconds).toBeLessThanOrEqual(340);
  });

  it("have the gap of the makespan that is shown, where costs are linear", () => {
    const random = seededRandom(1);
    const experts = Array.from({ length: 14 }, (_, at) => {
      const prompts = 1 + Math.round(random.lognormal(6.5, 1.2));
      const loadSeconds = Math.round(35 + 15 * random.next());
      const each = Number((random.next() < 1 / 3 ? 1 + 2 * random.next() : 0.1 + 0.2 * random.next()).toFixed(2));
      return { name: `expert ${at}`, prompts, loadSeconds, cost: linearCost(each) };
    });
    // The repair's search improves on the ILP's own here.
    const { timed, solved } = placed({ workers: 4, maxModelsPerWorker: 4, replicas: "amortised", experts });
    expect(solved.makespanSeconds).toBeCloseTo(timed.makespanSeconds, 6);
    expect(solved.gap).toBeCloseTo((timed.makespanSeconds - solved.lowerBoundSeconds) / timed.makespanSeconds, 9);
  });

  it("load less for little more time where that is asked for: within that share, and never in vain", () => {
    fc.assert(
      fc.property(
        anyPlacement({ experts: 5, workers: 4, prompts: 100, bent: true }),
        fc.constantFrom(0.005, 0.1),
        fc.boolean(),
        (problem, within, swept) => {
          const open = swept ? { ...problem, maxModelsPerWorker: null } : problem;
          const exact = placed(open);
          const answer = placeExperts(open, { ...limits, fewestLoadsWithin: within });
          if (!answer.ok) throw new Error(answer.message);
          const { timed, schedule, maxModelsPerWorker, sweep } = answer.value;
          const mostSeconds = exact.timed.makespanSeconds * (1 + within);
          expect(timed.makespanSeconds).toBeLessThanOrEqual(mostSeconds * (1 + 1e-9));
          expect(maxModelsPerWorker).toBeLessThanOrEqual(exact.maxModelsPerWorker);
          const shown = sweep.find((each) => each.maxModelsPerWorker === maxModelsPerWorker);
          expect(shown?.makespanSeconds ?? 0).toBe(timed.makespanSeconds);
          for (const each of sweep)
            if (each.maxModelsPerWorker < maxModelsPerWorker) expect(each.makespanSeconds).toBeGreaterThan(mostSeconds * (1 - 1e-6));
          // No session is left that another of its expert could take completely.
          const seconds = timed.workers.map((line) => line.at(-1)?.untilSeconds ?? 0);
          for (const [from, line] of schedule.workers.entries())
            for (const { expert, prompts } of line)
              for (const [to, others] of schedule.workers.entries()) {
                const other = others.find((each) => each.expert === expert);
                const cost = problem.experts[expert]?.cost;
                if (from === to || other === undefined || cost === undefined) continue;
                const takenSeconds = (seconds[to] ?? 0) + cost(other.prompts + prompts) - cost(other.prompts);
                expect(takenSeconds).toBeGreaterThan(mostSeconds * (1 - 1e-6));
              }
        },
      ),
      { numRuns: 20 },
    );
  });

  it("load no model for a handful of prompts where that is asked for", () => {
    const experts = [400, 404].map((prompts, at) => ({ name: `expert ${at}`, prompts, loadSeconds: 0.01, cost: linearCost(0.1) }));
    const problem = { workers: 2, maxModelsPerWorker: 2, replicas: "amortised" as const, experts };
    expect(placed(problem).timed.loads).toBe(3);
    const answer = placeExperts({ ...problem, maxModelsPerWorker: null }, { ...limits, fewestLoadsWithin: 0.005 });
    if (!answer.ok) throw new Error(answer.message);
    expect(answer.value.timed.loads).toBe(2);
    expect(answer.value.maxModelsPerWorker).toBe(1);
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
      "On 2 workers of at most 4: its 2,504 s of answering are 59 loads of 42 s. No worker has room for one more of it at 2 models each; one fewer would make the whole 1,161 s longer.",
    );
    expect(says[3]).toBe("On 1 worker of at most 1: its 66 s of answering are 1 load of 40 s. It may be on no more.");
    const single = placed({ ...checkInstance(2), replicas: "single" });
    expect(single.says[0]).toContain("as each expert is to be on one only");
  });
});
