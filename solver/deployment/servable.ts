import type { DeploymentModel } from "./deploymentModel";
import { deploymentModel } from "./deploymentModel";
import { type Expression, evaluate, minimising } from "./expression";
import type { DeploymentProblem } from "./problem";
import type { TimedSolver } from "./timedSolver";

/** The model of all deployments that keep the constraints, at whatever latency the problem allows. */
function widestModel(problem: DeploymentProblem, keep: boolean): DeploymentModel {
  const limitSeconds = problem.objective.kind === "cost" ? problem.objective.stageLimitSeconds : Number.POSITIVE_INFINITY;
  return deploymentModel(problem, { limitSeconds, load: 1, keep: keep || problem.constraints.maxChangedReplicas !== null });
}

/** Whether any deployment keeps all constraints. */
export function servable(problem: DeploymentProblem, solver: TimedSolver): "yes" | "no" | "unknown" {
  const { status } = solver.solve(widestModel(problem, false).milp);
  if (status === "undecided") return "unknown";
  return status === "infeasible" ? "no" : "yes";
}

/** The least value that an expression has over all deployments, with the point; null where there are none or the time ran out. */
export function leastOf(
  problem: DeploymentProblem,
  expression: (model: DeploymentModel) => Expression,
  solver: TimedSolver,
): { readonly value: number; readonly model: DeploymentModel; readonly x: Float64Array } | null {
  const model = widestModel(problem, true);
  const wanted = expression(model);
  const result = solver.solve(minimising(model.milp, wanted));
  return result.status === "optimal" ? { value: evaluate(wanted, result.x), model, x: result.x } : null;
}
