import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MilpEngine } from "@/solver/milp/engine";
import { violation } from "@/solver/milp/testing/violation";
import { listScheduling } from "../placement/baselineSchedules";
import { placeExperts } from "../placement/placeExperts";
import type { PlacedExpert, PlacementProblem, Session } from "../placement/placement";
import { combinatorialBound } from "../placement/placementBound";
import { linearContext } from "../placement/placementContext";
import { placementModel, readPlacement } from "../placement/placementModel";
import { replicaCap } from "../placement/replicaCap";
import { solvePlacement } from "../placement/solvePlacement";
import { timeSchedule } from "../placement/timeSchedule";
import { bentCost, checkInstance, linearCost } from "./testPlacements";

export interface AnyPlacement {
  readonly experts: number;
  readonly workers: number;
  readonly prompts: number;
  /** Whether costs may be non-linear; else they are linear. */
  readonly bent: boolean;
}

/** Problems in which K has room for all experts; including loads and costs of zero, and experts without prompts. */
export function anyPlacement({ experts, workers, prompts, bent }: AnyPlacement): fc.Arbitrary<PlacementProblem> {
  const hundredths = (max: number): fc.Arbitrary<number> => fc.nat({ max: 100 * max }).map((count) => count / 100);
  const expert: fc.Arbitrary<Omit<PlacedExpert, "name">> = fc
    .record({
      prompts: fc.nat({ max: prompts }),
      loadSeconds: hundredths(20),
      each: hundredths(3),
      fixed: bent ? hundredths(30) : fc.constant(0),
    })
    .map(({ each, fixed, ...rest }) => ({ ...rest, cost: fixed === 0 ? linearCost(each) : bentCost(each, fixed) }));
  return fc
    .record({
      list: fc.array(expert, { minLength: 1, maxLength: experts }),
      workers: fc.integer({ min: 1, max: workers }),
      room: fc.nat({ max: 2 }),
      replicas: fc.constantFrom<PlacementProblem["replicas"]>("amortised", "amortised", "single"),
    })
    .map(({ list, workers: count, room, replicas }) => ({
      workers: count,
      maxModelsPerWorker: Math.ceil(list.length / count) + room,
      replicas,
      experts: list.map((each, index) => ({ name: `expert ${index}`, ...each })),
    }));
}

/** The least makespan of all schedules within K and caps, by trying every split of every expert's prompts. */
export function leastByTrying(problem: PlacementProblem): number {
  const { experts, workers } = problem;
  const splits = (prompts: number, over: number): number[][] =>
    over === 1
      ? [[prompts]]
      : Array.from({ length: prompts + 1 }, (_, first) => first).flatMap((first) =>
          splits(prompts - first, over - 1).map((rest) => [first, ...rest]),
        );
  let schedules: Session[][][] = [Array.from({ length: workers }, () => [])];
  for (const [expert, each] of experts.entries()) {
    const cap = replicaCap(each, workers, problem.replicas);
    const allowed = splits(each.prompts, workers).filter((split) => split.filter((prompts) => prompts > 0).length <= cap);
    schedules = schedules.flatMap((lines) =>
      allowed.map((split) =>
        lines.map((line, worker) => ((split[worker] ?? 0) > 0 ? [...line, { expert, prompts: split[worker] ?? 0 }] : line)),
      ),
    );
  }
  const kept = schedules.filter((lines) => lines.every((line) => line.length <= problem.maxModelsPerWorker));
  return Math.min(...kept.map((lines) => timeSchedule(experts, { workers: lines, barrier: false }).makespanSeconds));
}

/** Every engine solves placements to the same optimum. Call inside a test file of the engine. */
export function placementContract(name: string, load: () => Promise<MilpEngine>): void {
  describe(`placements by MILP: ${name}`, () => {
    it("are the best of all schedules on tiny problems, whatever range their makespan is looked for in", async () => {
      const engine = await load();
      fc.assert(
        fc.property(anyPlacement({ experts: 3, workers: 2, prompts: 7, bent: false }), fc.boolean(), (problem, tight) => {
          fc.pre(problem.experts.some(({ prompts }) => prompts > 0));
          const least = leastByTrying(problem);
          const list = listScheduling(problem);
          if (list === null) throw new Error("there is room for all");
          const mostSeconds = tight ? least * (1 + 1e-6) : timeSchedule(problem.experts, list).makespanSeconds;
          const model = placementModel(problem, { leastSeconds: tight ? combinatorialBound(linearContext(problem)) : 0, mostSeconds });
          const result = engine.solve(model, { timeLimitSeconds: 20, relativeGap: 0 });
          if (result.status !== "optimal") throw new Error(`expected an optimum, found ${result.status}`);
          expect(violation(model, result.x)).toBeLessThanOrEqual(1e-5);
          const timed = timeSchedule(problem.experts, readPlacement(problem, result.x));
          expect(Math.abs(timed.makespanSeconds - least)).toBeLessThanOrEqual(1e-5 * Math.max(1, least));
        }),
        { numRuns: 60 },
      );
    });

    it("of six experts on four workers are proven", async () => {
      const solved = solvePlacement(checkInstance(2), [], { engine: await load(), timeLimitSeconds: 20, share: 1 });
      expect(solved.makespanSeconds).toBeCloseTo(1491.85, 6);
      expect(solved.lowerBoundSeconds).toBeCloseTo(1491.85, 3);
    });

    it("are proven over all Ks of a sweep by the widest", async () => {
      const placed = placeExperts({ ...checkInstance(2), maxModelsPerWorker: null }, { engine: await load(), timeLimitSeconds: 40 });
      if (!placed.ok) throw new Error(placed.message);
      expect(placed.value.solved.makespanSeconds).toBeCloseTo(1464.06, 6);
      expect(placed.value.solved.proven).toBe(true);
    });
  });
}
