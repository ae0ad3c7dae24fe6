import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyPlacement, leastByTrying } from "../testing/placementContract";
import { checkInstance, noEngine } from "../testing/testPlacements";
import { optimalityText } from "./optimality";
import { placeExperts } from "./placeExperts";

const limits = { engine: noEngine, timeLimitSeconds: 1 };

function placed(problem: Parameters<typeof placeExperts>[0]) {
  const answer = placeExperts(problem, limits);
  if (!answer.ok) throw new Error(answer.message);
  return answer.value;
}

describe("the optimality of a placement", () => {
  it("has a bound that no schedule goes below, whether small sessions cost more per prompt or less", () => {
    fc.assert(
      fc.property(
        anyPlacement({ experts: 3, workers: 2, prompts: 7, bent: true }),
        fc.double({ min: 1, max: 2, noNaN: true }),
        (problem, power) => {
          const experts = problem.experts.map((each) => ({ ...each, cost: (prompts: number) => each.cost(prompts) ** power }));
          const bent = { ...problem, experts };
          const { optimality, timed } = placed(bent);
          expect(optimality.lowerBoundSeconds).toBeLessThanOrEqual(leastByTrying(bent) * (1 + 1e-9));
          expect(timed.makespanSeconds * (1 - optimality.gap)).toBeCloseTo(optimality.lowerBoundSeconds, 6);
        },
      ),
      { numRuns: 30 },
    );
  });

  it("is of the schedule as it is timed: what is given up for fewer loads is part of the gap", () => {
    const answer = placeExperts({ ...checkInstance(2), maxModelsPerWorker: null }, { ...limits, fewestLoadsWithin: 0.03 });
    if (!answer.ok) throw new Error(answer.message);
    const { optimality, solved, timed } = answer.value;
    expect(timed.makespanSeconds).toBeGreaterThan(solved.makespanSeconds);
    expect(optimality.gap).toBeGreaterThan(solved.gap);
  });

  it("says that only the search found it where the engine decides nothing", () => {
    const { optimality } = placed(checkInstance(2));
    expect(optimality).toMatchObject({ proven: false, by: "search" });
    expect(optimalityText(optimality)).toMatch(/^found by search alone, not proven optimal: the optimum is at most [\d.]+ % shorter$/);
  });

  it("is worded in one phrase", () => {
    expect(optimalityText({ gap: 0, proven: true, by: "milp" })).toBe("proven optimal");
    expect(optimalityText({ gap: 0.0123, proven: false, by: "milp" })).toBe("not proven optimal: the optimum is at most 1.2 % shorter");
  });
});
