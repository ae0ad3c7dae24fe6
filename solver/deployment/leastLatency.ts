import { deploymentModel } from "./deploymentModel";
import type { DeploymentProblem, PlacedReplica } from "./problem";
import { readDeployment } from "./readDeployment";
import { largestSeconds, stageSeconds } from "./stageLatency";
import type { TimedSolver } from "./timedSolver";

/** Relative margin on a stage's load, so that the solver does not return the known deployment again. */
const MARGIN = 1e-8;

/** The same for a solver that violated rows by more than that: GLPK rounds in its own favour by up to 1e-5. */
const COARSE_MARGIN = 3e-5;

/** Below this ratio of the known feasible to the known infeasible value, try to prove the former optimal. */
const NARROW = 1.02;

type Found = { readonly seconds: number; readonly replicas: readonly PlacedReplica[] };

/** A deployment of the least latency, or of one not above `boundSeconds` by more than the allowed time could close. */
export type LeastLatency =
  | ({ readonly outcome: "found"; readonly boundSeconds: number } & Found)
  | { readonly outcome: "infeasible" }
  | { readonly outcome: "undecided" };

/**
 * The smallest latency within which every stage can be served. Feasibility of a latency is a MILP without an objective; every
 * deployment found is evaluated exactly, which lowers the upper end of the bisection to a latency that some deployment really has.
 * It ends when no deployment is better than the best one.
 */
export function leastLatency(problem: DeploymentProblem, solver: TimedSolver, within: number): LeastLatency {
  const first = deployedWithin(problem, solver, within);
  if (first === "none") return { outcome: "infeasible" };
  if (first === "undecided") return { outcome: "undecided" };
  let best: Found = first;
  let bound = Math.min(best.seconds, fastestSeconds(problem));
  let lastProofFailed = false;
  while (bound < best.seconds) {
    const proving: boolean = !lastProofFailed && best.seconds <= bound * NARROW;
    const limit = proving ? best.seconds : Math.sqrt(bound * best.seconds);
    const found = fasterThan(problem, solver, limit);
    if (found === "undecided") break;
    lastProofFailed = proving && found !== "none";
    if (found === "none") bound = limit;
    else if (found.seconds < best.seconds) best = found;
    else break;
  }
  return { outcome: "found", ...best, boundSeconds: bound };
}

/** A deployment whose latency is below a limit, if there is one. */
function fasterThan(problem: DeploymentProblem, solver: TimedSolver, limitSeconds: number): Found | "none" | "undecided" {
  // Just below the limit: at it, curves may jump, and one that begins there would be admitted.
  return deployedWithin(problem, solver, limitSeconds * (1 - 1e-9), MARGIN);
}

/** A deployment that serves every stage within a latency, with a reserve of `margin`, evaluated exactly. */
function deployedWithin(problem: DeploymentProblem, solver: TimedSolver, limitSeconds: number, margin = 0): Found | "none" | "undecided" {
  const model = deploymentModel(problem, { limitSeconds, load: 1 + margin, keep: problem.constraints.maxChangedReplicas !== null });
  const result = solver.solve(model.milp);
  if (result.status === "infeasible") return "none";
  if (result.status === "undecided") return "undecided";
  const replicas = readDeployment(problem, model, result.x);
  const seconds = largestSeconds(problem, stageSeconds(problem, replicas));
  if (seconds < limitSeconds || (margin === 0 && seconds === limitSeconds && seconds < Number.POSITIVE_INFINITY))
    return { seconds, replicas };
  return margin < COARSE_MARGIN ? deployedWithin(problem, solver, limitSeconds, COARSE_MARGIN) : "none";
}

/** No stage is faster than its fastest replica under its lightest load. */
function fastestSeconds({ stages }: DeploymentProblem): number {
  const loaded = stages.filter(({ requestsPerSecond }) => requestsPerSecond > 0);
  return Math.max(
    0,
    ...loaded.map(
      ({ options, latencyWeight = 1 }) =>
        latencyWeight * Math.min(...options.map(({ curve }) => curve.seconds[0] ?? Number.POSITIVE_INFINITY)),
    ),
  );
}
