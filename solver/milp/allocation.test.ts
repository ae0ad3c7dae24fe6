import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { minMaxAllocation } from "./bisection";
import { anyTables } from "./testing/milpContract";
import { weightedAllocation } from "./weightedAllocation";

/** Every way to give GPUs to the stages, by exhaustion. */
function everyAllocation(stages: number, gpus: number): number[][] {
  if (stages === 0) return [[]];
  return Array.from({ length: gpus }, (_, index) => index + 1).flatMap((first) =>
    everyAllocation(stages - 1, gpus - first).map((rest) => [first, ...rest]),
  );
}

function leastOver(tables: readonly number[][], gpus: number, value: (seconds: number[]) => number): number {
  const values = everyAllocation(tables.length, gpus).map((given) =>
    value(given.map((f, stage) => tables[stage]?.[f - 1] ?? Number.POSITIVE_INFINITY)),
  );
  return Math.min(Number.POSITIVE_INFINITY, ...values);
}

const problem = fc.tuple(anyTables(8), fc.integer({ min: 1, max: 8 }));

describe("exact allocations", () => {
  it("finds the same largest latency as trying every allocation", () => {
    fc.assert(
      fc.property(problem, ([tables, gpus]) => {
        const least = leastOver(tables, gpus, (seconds) => Math.max(...seconds));
        expect(minMaxAllocation(tables, gpus)?.latencySeconds ?? Number.POSITIVE_INFINITY).toBe(least);
      }),
    );
  });

  it("finds the same weighted sum as trying every allocation, limit included", () => {
    fc.assert(
      fc.property(problem, fc.integer({ min: 40, max: 60 }), ([tables, gpus], stageLimitSeconds) => {
        const weights = [0.5, 1, 0.25, 2];
        const least = leastOver(tables, gpus, (seconds) =>
          Math.max(...seconds) > stageLimitSeconds
            ? Number.POSITIVE_INFINITY
            : seconds.reduce((sum, value, stage) => sum + value * (weights[stage] ?? 0), 0),
        );
        const found = weightedAllocation(tables, gpus, { weights, stageLimitSeconds })?.latencySeconds ?? Number.POSITIVE_INFINITY;
        if (least === Number.POSITIVE_INFINITY) expect(found).toBe(least);
        else expect(found).toBeCloseTo(least, 9);
      }),
    );
  });

  it("spends no GPU that brings nothing", () => {
    expect(
      minMaxAllocation(
        [
          [9, 4, 4, 4],
          [5, 5, 5, 5],
        ],
        8,
      )?.gpus,
    ).toEqual([2, 1]);
    expect(weightedAllocation([[9, 4, 4, 4]], 8, { weights: [1], stageLimitSeconds: 9 })?.gpus).toEqual([2]);
  });

  it("says null when the smallest stage cannot be served", () => {
    const none = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    expect(minMaxAllocation([[1, 1], none], 2)).toBeNull();
    expect(weightedAllocation([[1, 1], none], 2, { weights: [1, 1], stageLimitSeconds: 9 })).toBeNull();
  });
});
