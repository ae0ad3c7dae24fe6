import { constraintsOf, type NamedConstraint } from "./constraints";
import { nearestFeasible, nodesMore } from "./nearestFeasible";
import type { DeploymentProblem, Solving } from "./problem";
import { servable } from "./servable";
import { type TimedSolver, timedSolver } from "./timedSolver";

/** One constraint of a conflict, and what would do instead of it, all other constraints kept. */
export interface ConflictingConstraint extends Pick<NamedConstraint, "kind" | "model" | "says"> {
  /** The nearest value that is feasible, in the constraint's unit; null where it has none or relaxing it alone is not enough. */
  readonly nearest: number | null;
  /** What is needed, in operators' words. */
  readonly needs: string;
}

/** Why nothing can be deployed. */
export interface Conflict {
  /** No proper part of these conflicts; empty where the cluster is too small whatever is given up. */
  readonly constraints: readonly ConflictingConstraint[];
  /** Whether all of it was decided in time; else the set may hold more than it must. */
  readonly proven: boolean;
  readonly says: string;
}

/**
 * The smallest set of constraints that conflict: one alone, else two, else what a deletion filter leaves (Chinneck, Feasibility and
 * Infeasibility in Optimization, 2008), which is minimal but need not be the smallest of its kind.
 *
 * @returns null when the problem is feasible, or not shown to be infeasible in time.
 */
export function explainInfeasible(problem: DeploymentProblem, solving: Solving): Conflict | null {
  const solver = timedSolver(solving);
  if (servable(problem, solver) !== "no") return null;
  const all = constraintsOf(problem);
  const { names, proven } = smallestConflict(problem, all, solver);
  if (names.length === 0) {
    const bare = all.reduce((less, name) => name.without(less), problem);
    const more = nodesMore(bare, solver);
    const says = "The cluster cannot serve the load, whatever constraint is given up";
    return { constraints: [], proven, says: `${says}: ${more.needs}.` };
  }
  const constraints = names.map((name) => {
    const { kind, model, says } = name;
    return { kind, model, says, ...nearestFeasible(problem, name, solver) };
  });
  const together = constraints.length === 1 ? "This cannot be kept" : "These cannot all be kept";
  return { constraints, proven, says: `${together}: ${constraints.map(({ says, needs }) => `${says} (${needs})`).join("; ")}.` };
}

function smallestConflict(
  problem: DeploymentProblem,
  all: readonly NamedConstraint[],
  solver: TimedSolver,
): { readonly names: readonly NamedConstraint[]; readonly proven: boolean } {
  let proven = true;
  const conflict = (names: readonly NamedConstraint[]): boolean => {
    const others = all.filter((name) => !names.includes(name));
    const answer = servable(
      others.reduce((less, name) => name.without(less), problem),
      solver,
    );
    if (answer === "unknown") proven = false;
    return answer === "no";
  };
  if (conflict([])) return { names: [], proven };
  const pairs = all.flatMap((one, index) => all.slice(index + 1).map((other) => [one, other]));
  const small = [...all.map((name) => [name]), ...pairs].find(conflict);
  if (small !== undefined) return { names: small, proven };
  let names = all;
  for (const name of all) {
    const fewer = names.filter((other) => other !== name);
    if (conflict(fewer)) names = fewer;
  }
  return { names, proven };
}
