import glpkFactory, { type GLPK, type LP } from "glpk.js/node";
import { answerWithoutSearch, type MilpEngine, type MilpLimits, type MilpResult } from "@/solver/milp/engine";
import { type MilpModel, objectiveOf, type Row, roundIntegers, type Variable } from "@/solver/milp/model";

/**
 * GLPK's clock and the clock that times its answer differ by milliseconds: a search that ends within this share of its limit counts as
 * ended by the limit. A false report of a cut search is harmless, a false report of a proven one is not.
 */
const LIMIT_REACHED = 0.9;

/**
 * GLPK behind the MILP interface. `solve` blocks its thread, so it is loaded in worker threads only. GLPK reports neither bound nor
 * progress for integer programs: a time-out with a known point is `feasible` without a gap.
 */
export async function loadGlpkEngine(): Promise<MilpEngine> {
  const glpk = await glpkFactory();
  return {
    name: `glpk ${glpk.version} (glpk.js 5.0.0)`,
    solve: (model, limits) => answerWithoutSearch(model) ?? solve(glpk, model, limits),
  };
}

function solve(glpk: GLPK, model: MilpModel, limits: MilpLimits): MilpResult {
  const timeLimitSeconds = Math.max(1, Math.ceil(limits.timeLimitSeconds));
  const { result, time } = glpk.solve(problemOf(glpk, model), {
    msglev: glpk.GLP_MSG_OFF,
    presol: true,
    tmlim: timeLimitSeconds,
    mipgap: limits.relativeGap,
  });
  const cut = time >= LIMIT_REACHED * timeLimitSeconds;
  if (result.status === glpk.GLP_NOFEAS || result.status === glpk.GLP_INFEAS) return { status: "infeasible" };
  if (result.status !== glpk.GLP_OPT && result.status !== glpk.GLP_FEAS) {
    return cut ? { status: "undecided" } : withoutCost(glpk, model, limits);
  }
  const x = roundIntegers(
    model,
    model.variables.map(({ name }) => result.vars[name] ?? 0),
  );
  const objective = objectiveOf(model, x);
  if (result.status === glpk.GLP_OPT) return { status: "optimal", objective, bound: objective, gap: 0, x };
  // Before the time limit, a point without proof is one within the requested gap.
  if (cut || limits.relativeGap === 0) return { status: "feasible", objective, x };
  return { status: "optimal", objective, bound: objective - limits.relativeGap * Math.abs(objective), gap: limits.relativeGap, x };
}

/**
 * GLPK gives up without a message if its presolver finds no point, and if the relaxation is unbounded. Without costs the second case cannot
 * occur.
 */
function withoutCost(glpk: GLPK, model: MilpModel, limits: MilpLimits): MilpResult {
  if (model.variables.every(({ cost }) => cost === 0)) return { status: "infeasible" };
  const result = solve(glpk, { ...model, variables: model.variables.map((variable) => ({ ...variable, cost: 0 })) }, limits);
  if (result.status === "infeasible" || result.status === "undecided") return result;
  throw new Error(`The objective of "${model.name}" has no least value`);
}

function problemOf(glpk: GLPK, model: MilpModel): LP {
  const nameOf = (index: number): string => model.variables[index]?.name ?? "";
  return {
    name: model.name,
    objective: {
      direction: glpk.GLP_MIN,
      name: "objective",
      vars: model.variables.map(({ name, cost }) => ({ name, coef: cost })),
    },
    subjectTo: model.rows
      .filter((row) => row.terms.length > 0)
      .map((row) => ({
        name: row.name,
        vars: row.terms.map(({ variable, coefficient }) => ({ name: nameOf(variable), coef: coefficient })),
        bnds: { type: rowType(glpk, row), lb: row.bound, ub: row.bound },
      })),
    bounds: model.variables.map((variable) => boundOf(glpk, variable)),
    generals: model.variables.filter((variable) => variable.integer).map((variable) => variable.name),
  };
}

/** Always both sides: glpk.js leaves the lower side of a GLP_UP bound open, and the result is x = -10 instead of 0. */
function boundOf(glpk: GLPK, { name, lower, upper }: Variable): { name: string; type: number; lb: number; ub: number } {
  if (upper === Number.POSITIVE_INFINITY) return { name, type: glpk.GLP_LO, lb: lower, ub: 0 };
  return { name, type: lower === upper ? glpk.GLP_FX : glpk.GLP_DB, lb: lower, ub: upper };
}

function rowType(glpk: GLPK, row: Row): number {
  if (row.sense === "=") return glpk.GLP_FX;
  return row.sense === "<=" ? glpk.GLP_UP : glpk.GLP_LO;
}
