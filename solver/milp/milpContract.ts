import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sameOptimum } from "./agreement";
import { type AllocationProblem, allocationModel, readAllocation } from "./allocation";
import { minMaxAllocation } from "./bisection";
import type { MilpEngine } from "./engine";
import { type MilpModel, objectiveOf, type Row, type Variable, violation } from "./model";
import { weightedAllocation } from "./weightedAllocation";

const limits = { timeLimitSeconds: 20, relativeGap: 0 };
/** Seconds the tables begin at: what tolerances of rows are relative to. */
const LARGEST_SECONDS = 60;
const FEASIBILITY_TOLERANCE = 1e-6 * LARGEST_SECONDS;

/** Non-increasing latency tables of 1 to 4 stages on up to `gpus` GPUs, some starting with counts that do not fit. */
export function anyTables(gpus: number): fc.Arbitrary<number[][]> {
  const table = fc
    .tuple(fc.nat({ max: 3 }), fc.array(fc.double({ min: 0, max: 4, noNaN: true }), { minLength: gpus, maxLength: gpus }))
    .map(([unfit, drops]) => {
      let seconds = LARGEST_SECONDS;
      return drops.map((drop, index) => {
        // Every third count brings nothing, as with replicas of several GPUs.
        if (index % 3 !== 2) seconds = Math.max(0.01, seconds - drop);
        return index < unfit ? Number.POSITIVE_INFINITY : seconds;
      });
    });
  return fc.array(table, { minLength: 1, maxLength: 4 });
}

/** Every engine keeps these promises. Call inside a test file of the engine. */
export function milpContract(name: string, load: () => Promise<MilpEngine>): void {
  const variable = (of: Partial<Variable> & { name: string }): Variable => ({
    lower: 0,
    upper: 1,
    cost: 0,
    binary: true,
    ...of,
  });

  describe(`MILP contract: ${name}`, () => {
    it("solves a knapsack to its known optimum", async () => {
      const values = [10, 13, 7, 8];
      const weights = [3, 4, 2, 3];
      const model: MilpModel = {
        name: "knapsack",
        variables: values.map((value, index) => variable({ name: `v${index}`, cost: -value })),
        rows: [
          {
            name: "weight",
            terms: weights.map((coefficient, index) => ({ variable: index, coefficient })),
            sense: "<=",
            bound: 7,
          },
        ],
      };
      const result = (await load()).solve(model, limits);
      expect(result).toMatchObject({ status: "optimal", objective: -23 });
    });

    it("keeps a continuous variable inside both bounds", async () => {
      const bounded: MilpModel = {
        name: "bounds",
        variables: [
          variable({ name: "down", cost: 1, lower: 0, upper: 5, binary: false }),
          variable({ name: "up", cost: -1, upper: 2.5, binary: false }),
        ],
        rows: [{ name: "slack", terms: [{ variable: 0, coefficient: 1 }], sense: ">=", bound: -10 }],
      };
      const result = (await load()).solve(bounded, limits);
      expect(result).toMatchObject({ status: "optimal", objective: -2.5 });
    });

    it("says infeasible when rows contradict one another", async () => {
      const at = (sense: Row["sense"], bound: number): Row => ({
        name: `${sense}${bound}`,
        terms: [{ variable: 0, coefficient: 1 }],
        sense,
        bound,
      });
      const model = { name: "contradiction", variables: [variable({ name: "x" })], rows: [at("<=", 0), at(">=", 1)] };
      expect((await load()).solve(model, limits)).toEqual({ status: "infeasible" });
    });

    it("says infeasible for a row without terms that cannot hold", async () => {
      const model: MilpModel = {
        name: "empty-row",
        variables: [variable({ name: "x" })],
        rows: [{ name: "none", terms: [], sense: "=", bound: 1 }],
      };
      expect((await load()).solve(model, limits)).toEqual({ status: "infeasible" });
    });

    it("agrees with the exact min-max allocation to 1e-6, on random tables", async () => {
      const engine = await load();
      fc.assert(
        fc.property(anyTables(12), fc.integer({ min: 1, max: 12 }), (tables, gpus) => {
          const problem: AllocationProblem = { tables, gpus, objective: { kind: "largest-stage" } };
          expectSameOptimum(engine, problem, minMaxAllocation(tables, gpus));
        }),
        { numRuns: 60 },
      );
    });

    it("agrees where two stages differ by less than it keeps rows to", async () => {
      const tables = [new Array<number>(12).fill(59.999998999999995), new Array<number>(12).fill(60)];
      expectSameOptimum(await load(), { tables, gpus: 2, objective: { kind: "largest-stage" } }, minMaxAllocation(tables, 2));
    });

    it("agrees with the exact weighted allocation to 1e-6, on random tables", async () => {
      const engine = await load();
      const weight = fc.double({ min: 0, max: 2, noNaN: true });
      fc.assert(
        fc.property(
          anyTables(12),
          fc.integer({ min: 1, max: 12 }),
          fc.array(weight, { minLength: 4, maxLength: 4 }),
          (tables, gpus, weights) => {
            const objective = { kind: "weighted-sum" as const, weights, stageLimitSeconds: 55 };
            expectSameOptimum(engine, { tables, gpus, objective }, weightedAllocation(tables, gpus, objective));
          },
        ),
        { numRuns: 60 },
      );
    });
  });
}

function expectSameOptimum(engine: MilpEngine, problem: AllocationProblem, exact: { readonly latencySeconds: number } | null): void {
  const model = allocationModel(problem);
  const result = engine.solve(model, limits);
  if (exact === null) {
    expect(result).toEqual({ status: "infeasible" });
    return;
  }
  if (result.status !== "optimal") throw new Error(`expected an optimum, found ${result.status}`);
  expect(violation(model, result.x)).toBeLessThanOrEqual(FEASIBILITY_TOLERANCE);
  const read = readAllocation(problem, model, result.x).latencySeconds;
  for (const seconds of [objectiveOf(model, result.x), result.objective, read])
    expect(sameOptimum(seconds, exact.latencySeconds), `${seconds} s and ${exact.latencySeconds} s`).toBe(true);
}
