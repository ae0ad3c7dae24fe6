import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { type AllocationProblem, allocationModel, readAllocation } from "../allocation";
import { minMaxAllocation } from "../bisection";
import { type MilpEngine, sameOptimum } from "../engine";
import { type MilpModel, objectiveOf, type Row, type Variable } from "../model";
import { weightedAllocation } from "../weightedAllocation";
import { violation } from "./violation";

const limits = { timeLimitSeconds: 20, relativeGap: 0 };
/** Minimum seconds of the tables: tolerances of rows are relative to it. */
const LARGEST_SECONDS = 60;
const FEASIBILITY_TOLERANCE = 1e-6 * LARGEST_SECONDS;

/**
 * Non-increasing latency tables of 1 to 4 stages on up to `gpus` GPUs, some starting with counts that do not fit. Latencies differ by
 * 10 ms or not at all: GLPK's presolver treats those nearer than a millisecond as equal.
 */
export function anyTables(gpus: number): fc.Arbitrary<number[][]> {
  const table = fc.tuple(fc.nat({ max: 3 }), fc.array(fc.nat({ max: 400 }), { minLength: gpus, maxLength: gpus })).map(([unfit, drops]) => {
    let seconds = LARGEST_SECONDS;
    return drops.map((drop, index) => {
      // Every third count has no effect, as with replicas of several GPUs.
      if (index % 3 !== 2) seconds = Math.max(0.01, seconds - drop / 100);
      return index < unfit ? Number.POSITIVE_INFINITY : seconds;
    });
  });
  return fc.array(table, { minLength: 1, maxLength: 4 });
}

/** Programs of 1 to 4 integers from 0 to 3, half of them infeasible or nearly so. */
const anyProgram: fc.Arbitrary<MilpModel> = fc.integer({ min: 1, max: 4 }).chain((variables) => {
  const coefficients = fc.array(fc.integer({ min: -4, max: 5 }), { minLength: variables, maxLength: variables });
  const row = fc.tuple(coefficients, fc.constantFrom<Row["sense"]>("<=", ">=", "="), fc.integer({ min: -3, max: 12 }));
  return fc.tuple(coefficients, fc.array(row, { maxLength: 4 })).map(([costs, rows]) => ({
    name: "random",
    variables: costs.map((cost, index) => ({ name: `x${index}`, lower: 0, upper: 3, cost, integer: true })),
    rows: rows.map(([terms, sense, bound], index) => ({
      name: `row${index}`,
      terms: terms.flatMap((coefficient, variable) => (coefficient === 0 ? [] : [{ variable, coefficient }])),
      sense,
      bound,
    })),
  }));
});

function leastByTrying(model: MilpModel): number | null {
  const points = 4 ** model.variables.length;
  let least: number | null = null;
  for (let point = 0; point < points; point += 1) {
    const x = model.variables.map((_, index) => Math.floor(point / 4 ** index) % 4);
    if (violation(model, x) === 0) least = Math.min(least ?? Number.POSITIVE_INFINITY, objectiveOf(model, x));
  }
  return least;
}

/** Knapsacks with several limits that leave no room for a quick proof. */
function hardKnapsacks(items: number, limitsOf: number): MilpModel {
  const random = seededRandom(3);
  const weights = Array.from({ length: limitsOf }, () => Array.from({ length: items }, () => 200 + random.int(800)));
  return {
    name: "hard",
    variables: Array.from({ length: items }, (_, index) => ({
      name: `x${index}`,
      lower: 0,
      upper: 1,
      cost: -weights.reduce((sum, row) => sum + (row[index] ?? 0), random.int(500)) / limitsOf,
      integer: true,
    })),
    rows: weights.map((row, index) => ({
      name: `limit${index}`,
      terms: row.map((coefficient, variable) => ({ variable, coefficient })),
      sense: "<=",
      bound: Math.floor(row.reduce((sum, weight) => sum + weight, 0) / 2),
    })),
  };
}

/** Every engine gives these guarantees. Call inside a test file of the engine. */
export function milpContract(name: string, load: () => Promise<MilpEngine>): void {
  const variable = (of: Partial<Variable> & { name: string }): Variable => ({
    lower: 0,
    upper: 1,
    cost: 0,
    integer: true,
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
          variable({ name: "down", cost: 1, lower: 0, upper: 5, integer: false }),
          variable({ name: "up", cost: -1, upper: 2.5, integer: false }),
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

    it("says the same of a model without variables as of any other", async () => {
      const engine = await load();
      const empty = { name: "empty", variables: [], rows: [] };
      expect(engine.solve(empty, limits)).toMatchObject({ status: "optimal", objective: 0 });
      const rows: Row[] = [{ name: "none", terms: [], sense: ">=", bound: 1 }];
      expect(engine.solve({ ...empty, rows }, limits)).toEqual({ status: "infeasible" });
    });

    it("refuses an objective without a least value, and still says infeasible where nothing fits", async () => {
      const engine = await load();
      for (const integer of [true, false]) {
        const endless: MilpModel = {
          name: "endless",
          variables: [variable({ name: "x", cost: -1, upper: Number.POSITIVE_INFINITY, integer }), variable({ name: "y" })],
          rows: [{ name: "least", terms: [{ variable: 0, coefficient: 1 }], sense: ">=", bound: 2 }],
        };
        expect(() => engine.solve(endless, limits)).toThrow("has no least value");
        const impossible: Row = { name: "y", terms: [{ variable: 1, coefficient: 1 }], sense: ">=", bound: 2 };
        expect(engine.solve({ ...endless, rows: [...endless.rows, impossible] }, limits)).toEqual({ status: "infeasible" });
      }
    });

    it("finds the optimum of random integer programs, or that they have none, as trying every point does", async () => {
      const engine = await load();
      fc.assert(
        fc.property(anyProgram, (model) => {
          const least = leastByTrying(model);
          const result = engine.solve(model, limits);
          if (least === null) {
            expect(result).toEqual({ status: "infeasible" });
            return;
          }
          if (result.status !== "optimal") throw new Error(`expected an optimum, found ${result.status}`);
          expect(violation(model, result.x)).toBeLessThanOrEqual(1e-6);
          expect(result.objective).toBeCloseTo(least, 6);
          expect(result.bound).toBeCloseTo(least, 6);
        }),
        { numRuns: 150 },
      );
    });

    it("stops soon after its time limit, with what it has", async () => {
      const engine = await load();
      const model = hardKnapsacks(60, 5);
      const startedMs = performance.now();
      const result = engine.solve(model, { timeLimitSeconds: 1, relativeGap: 0 });
      expect(performance.now() - startedMs).toBeLessThan(6000);
      expect(["feasible", "undecided"]).toContain(result.status);
      if (result.status === "feasible") {
        expect(violation(model, result.x)).toBeLessThanOrEqual(1e-6);
        if (result.bound !== undefined) expect(result.bound).toBeLessThanOrEqual(result.objective);
      }
    });

    it("may stop at the gap it was given", async () => {
      const engine = await load();
      const model = hardKnapsacks(30, 2);
      const result = engine.solve(model, { timeLimitSeconds: 20, relativeGap: 0.2 });
      if (result.status !== "optimal" || result.bound === undefined) throw new Error(`expected an optimum, found ${result.status}`);
      expect(result.gap).toBeLessThanOrEqual(0.2);
      expect(violation(model, result.x)).toBeLessThanOrEqual(1e-6);
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
  const read = readAllocation(problem, result.x).latencySeconds;
  for (const seconds of [objectiveOf(model, result.x), result.objective, read])
    expect(sameOptimum(seconds, exact.latencySeconds), `${seconds} s and ${exact.latencySeconds} s`).toBe(true);
}
