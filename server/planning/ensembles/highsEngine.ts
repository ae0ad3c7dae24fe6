import loadHighs, { type Highs, type ModelData, type VariableType } from "highs";
import { answerWithoutSearch, type MilpEngine, type MilpLimits, type MilpResult } from "@/solver/milp/engine";
import { type MilpModel, objectiveOf, roundIntegers } from "@/solver/milp/model";

/** Tolerance for rows and integers; HiGHS' own 1e-7 and 1e-6 would be visible in latencies that are read from tables to 1e-6. */
const TOLERANCE = 1e-9;

/** HiGHS behind the MILP interface. `solve` blocks its thread, so it is loaded in worker threads only. */
export async function loadHighsEngine(): Promise<MilpEngine> {
  const highs = await loadHighs();
  return {
    name: `HiGHS ${highs.version.string} (highs 1.15.3)`,
    solve: (model, limits) => answerWithoutSearch(model) ?? solve(highs, model, limits),
  };
}

function solve(highs: Highs, model: MilpModel, limits: MilpLimits): MilpResult {
  return highs.withModel(dataOf(highs, model), (instance): MilpResult => {
    instance.options.set({
      output_flag: false,
      time_limit: limits.timeLimitSeconds,
      mip_rel_gap: limits.relativeGap,
      mip_abs_gap: 0,
      primal_feasibility_tolerance: TOLERANCE,
      dual_feasibility_tolerance: TOLERANCE,
      mip_feasibility_tolerance: TOLERANCE,
    });
    const { modelStatus } = instance.run();
    const known = highs.constants.modelStatus;
    if (modelStatus === known.infeasible) return { status: "infeasible" };
    if (modelStatus === known.unbounded || modelStatus === known.unboundedOrInfeasible) return withoutCost(highs, model, limits);
    const proven = modelStatus === known.optimal;
    const found = instance.info.get("primal_solution_status") === highs.constants.solutionStatus.feasible;
    if (!proven && !found) return { status: "undecided" };
    const x = roundIntegers(model, instance.getSolution().colValue);
    const objective = objectiveOf(model, x);
    const linear = model.variables.every(({ integer }) => !integer);
    const bound = linear ? objective : Number(instance.info.get("mip_dual_bound"));
    return { status: proven ? "optimal" : "feasible", objective, bound, gap: relativeGap(objective, bound), x };
  });
}

/** A model that is unbounded with its costs is feasible without them, and then has no least objective; otherwise it is infeasible. */
function withoutCost(highs: Highs, model: MilpModel, limits: MilpLimits): MilpResult {
  const result = model.variables.some(({ cost }) => cost !== 0)
    ? solve(highs, { ...model, variables: model.variables.map((variable) => ({ ...variable, cost: 0 })) }, limits)
    : null;
  if (result?.status === "infeasible" || result?.status === "undecided") return result;
  throw new Error(`The objective of "${model.name}" has no least value`);
}

function relativeGap(objective: number, bound: number): number {
  return objective === bound ? 0 : Math.abs(objective - bound) / Math.max(Math.abs(objective), Number.MIN_VALUE);
}

function dataOf(highs: Highs, model: MilpModel): ModelData {
  const { variables, rows } = model;
  const starts = new Int32Array(rows.length + 1);
  for (const [index, { terms }] of rows.entries()) starts[index + 1] = (starts[index] ?? 0) + terms.length;
  const { continuous, integer } = highs.constants.variableType;
  return {
    numCols: variables.length,
    numRows: rows.length,
    colCost: Float64Array.from(variables, ({ cost }) => cost),
    colLower: Float64Array.from(variables, ({ lower }) => lower),
    colUpper: Float64Array.from(variables, ({ upper }) => upper),
    rowLower: Float64Array.from(rows, ({ sense, bound }) => (sense === "<=" ? -highs.infinity : bound)),
    rowUpper: Float64Array.from(rows, ({ sense, bound }) => (sense === ">=" ? highs.infinity : bound)),
    matrix: {
      format: "csr",
      numRows: rows.length,
      numCols: variables.length,
      starts,
      indices: Int32Array.from(rows.flatMap(({ terms }) => terms.map(({ variable }) => variable))),
      values: Float64Array.from(rows.flatMap(({ terms }) => terms.map(({ coefficient }) => coefficient))),
    },
    integrality: variables.map((variable): VariableType => (variable.integer ? integer : continuous)),
  };
}
