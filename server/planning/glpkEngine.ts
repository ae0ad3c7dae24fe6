import glpkFactory, { type GLPK, type LP } from "glpk.js/node";
import type { MilpEngine, MilpLimits, MilpResult } from "@/solver/milp/engine";
import { type MilpModel, objectiveOf, type Row, type Variable } from "@/solver/milp/model";

/**
 * GLPK behind the MILP seam. `solve` blocks its thread, so it is loaded in worker threads only. GLPK tells neither bound nor
 * progress for integer programs: a time-out with a point in hand is `feasible` without a gap.
 */
export async function loadGlpkEngine(): Promise<MilpEngine> {
  const glpk = await glpkFactory();
  return { name: `glpk ${glpk.version} (glpk.js 5.0.0)`, solve: (model, limits) => solve(glpk, model, limits) };
}

function solve(glpk: GLPK, model: MilpModel, limits: MilpLimits): MilpResult {
  // A row without terms is either always true or never; GLPK is not asked.
  if (model.rows.some((row) => row.terms.length === 0 && !holdsAtZero(row))) return { status: "infeasible" };
  const { result } = glpk.solve(problemOf(glpk, model), {
    msglev: glpk.GLP_MSG_OFF,
    presol: true,
    tmlim: Math.max(1, Math.ceil(limits.timeLimitSeconds)),
    mipgap: limits.relativeGap,
  });
  if (result.status === glpk.GLP_NOFEAS || result.status === glpk.GLP_INFEAS) return { status: "infeasible" };
  if (result.status !== glpk.GLP_OPT && result.status !== glpk.GLP_FEAS) return { status: "undecided" };
  const x = Float64Array.from(model.variables, (variable) => {
    const value = result.vars[variable.name] ?? 0;
    return variable.binary ? Math.round(value) : value;
  });
  const objective = objectiveOf(model, x);
  return result.status === glpk.GLP_OPT
    ? { status: "optimal", objective, bound: objective, gap: limits.relativeGap, x }
    : { status: "feasible", objective, x };
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
    bounds: model.variables.filter((variable) => !variable.binary).map((variable) => boundOf(glpk, variable)),
    binaries: model.variables.filter((variable) => variable.binary).map((variable) => variable.name),
  };
}

/** Both sides always: glpk.js leaves the lower side of a GLP_UP bound open, and x = -10 comes out where 0 was meant. */
function boundOf(glpk: GLPK, { name, lower, upper }: Variable): { name: string; type: number; lb: number; ub: number } {
  if (upper === Number.POSITIVE_INFINITY) return { name, type: glpk.GLP_LO, lb: lower, ub: 0 };
  return { name, type: lower === upper ? glpk.GLP_FX : glpk.GLP_DB, lb: lower, ub: upper };
}

function rowType(glpk: GLPK, row: Row): number {
  if (row.sense === "=") return glpk.GLP_FX;
  return row.sense === "<=" ? glpk.GLP_UP : glpk.GLP_LO;
}

function holdsAtZero(row: Row): boolean {
  if (row.sense === "=") return row.bound === 0;
  return row.sense === "<=" ? row.bound >= 0 : row.bound <= 0;
}
