import { mayRunOn, type NamedConstraint, type PlanConstraints } from "./constraints";
import { scaled } from "./expression";
import { leastLatency } from "./leastLatency";
import type { DeploymentProblem } from "./problem";
import { readDeployment } from "./readDeployment";
import { leastOf, servable } from "./servable";
import type { TimedSolver } from "./timedSolver";

/** The nearest feasible value of a constraint, and a sentence's part that says it. */
export interface Nearest {
  readonly nearest: number | null;
  readonly needs: string;
}

/** More nodes than these of one kind are not tried. */
const MOST_NODES_MORE = 16;

const NOT_ALONE: Nearest = { nearest: null, needs: "giving up this alone is not enough" };

/** What would do instead of a constraint when all others are kept. */
export function nearestFeasible(problem: DeploymentProblem, name: NamedConstraint, solver: TimedSolver): Nearest {
  const less = name.without(problem);
  const { constraints } = problem;
  const asked = (change: Partial<PlanConstraints>): boolean =>
    servable({ ...problem, constraints: { ...less.constraints, ...change } }, solver) === "yes";
  switch (name.kind) {
    case "maxUsdPerHour":
      return value(leastOf(less, (model) => model.usdPerHour, solver)?.value, (usd) => `needs ${Number(usd.toFixed(2))} USD/hour`);
    case "maxGpus":
      return value(leastOf(less, (model) => model.gpus, solver)?.value, (gpus) => `needs ${gpus} GPUs`);
    case "maxChangedReplicas":
      return value(leastOf(less, (model) => model.changes, solver)?.value, (changes) => `needs ${changes}`);
    case "idleGpus": {
      const total = problem.nodes.reduce((sum, { gpus }) => sum + gpus, 0);
      const most = leastOf(less, (model) => scaled(model.gpus, -1), solver);
      return value(most === null ? undefined : total + most.value, (idle) => `at least ${idle} idle`);
    }
    case "stageLimitSeconds": {
      const least = leastLatency({ ...less, objective: { kind: "latency" } }, solver, Number.POSITIVE_INFINITY);
      return value(least.outcome === "found" ? least.seconds : undefined, (seconds) => `needs ${Number(seconds.toPrecision(4))} s`);
    }
    case "minReplicasPerModel": {
      const most = mostThat((constraints.minReplicasPerModel ?? 1) - 1, 0, (replicas) => asked({ minReplicasPerModel: replicas || null }));
      return value(most, (replicas) => `at most ${replicas} can be had`);
    }
    case "pinned": {
      const pin = constraints.pinned.find((entry) => !less.constraints.pinned.includes(entry));
      if (pin === undefined) return NOT_ALONE;
      const pins = (replicas: number) => (replicas === 0 ? [] : [{ ...pin, replicas }]);
      const most = mostThat(pin.replicas - 1, 0, (replicas) => asked({ pinned: [...less.constraints.pinned, ...pins(replicas)] }));
      return value(most, (replicas) => `at most ${replicas} can be had`);
    }
    case "excluded": {
      const stage = problem.stages.findIndex(({ model }) => model === name.model);
      const least = leastOf(less, (model) => model.replicas[stage] ?? { terms: [], constant: 0 }, solver);
      return value(least?.value, (replicas) => `needs ${replicas} ${replicas === 1 ? "replica" : "replicas"} of it`);
    }
    case "shapes":
      return otherShapes(less, name, solver);
    case "nodes":
      return moreOfItsNodes(problem, less, name, solver);
    case "surviveNodeLoss":
      return nodesMore(problem, solver);
  }
}

/** How many nodes more, of one kind the cluster has, make a problem feasible. */
export function nodesMore(problem: DeploymentProblem, solver: TimedSolver): Nearest {
  const kinds = new Map(problem.nodes.map((node) => [`${node.gpus} x ${node.gpu}`, node]));
  for (let more = 1; more <= MOST_NODES_MORE; more += 1) {
    for (const [kind, node] of kinds) {
      const nodes = [
        ...problem.nodes,
        ...Array.from({ length: more }, (_, index) => ({ ...node, name: `${node.name} copy ${index + 1}` })),
      ];
      if (servable({ ...problem, nodes }, solver) === "yes")
        return { nearest: more, needs: `needs ${more} ${more === 1 ? "node" : "nodes"} more of ${kind}` };
    }
  }
  return { nearest: null, needs: `${MOST_NODES_MORE} nodes more of one kind are not enough` };
}

function value(nearest: number | undefined, needs: (nearest: number) => string): Nearest {
  if (nearest === undefined) return NOT_ALONE;
  // Whole numbers come out of an engine within its tolerance.
  const tidy = Math.abs(nearest - Math.round(nearest)) < 1e-6 ? Math.round(nearest) : nearest;
  return { nearest: tidy, needs: needs(tidy) };
}

function mostThat(from: number, to: number, holds: (count: number) => boolean): number | undefined {
  for (let count = from; count >= to; count -= 1) if (holds(count)) return count;
  return undefined;
}

/** The shapes that the model would have, on the fewest GPUs. */
function otherShapes(less: DeploymentProblem, { model }: NamedConstraint, solver: TimedSolver): Nearest {
  const found = leastOf(less, (columns) => columns.gpus, solver);
  if (found === null) return NOT_ALONE;
  const stage = less.stages.findIndex((candidate) => candidate.model === model);
  const replicas = readDeployment(less, found.model, found.x).filter((replica) => replica.stage === stage);
  const shapes = new Set(replicas.map(({ option: { shape } }) => `tp ${shape.tp} x pp ${shape.pp}`));
  return { nearest: null, needs: shapes.size === 0 ? "needs no replica of it" : `${[...shapes].join(" and ")} would do` };
}

/** Nodes that the rule keeps the model from and that it must have; each is needed, others may do instead. */
function moreOfItsNodes(problem: DeploymentProblem, less: DeploymentProblem, { model }: NamedConstraint, solver: TimedSolver): Nearest {
  if (model === null || servable(less, solver) !== "yes") return NOT_ALONE;
  const kept = problem.nodes.map(({ name }) => name).filter((name) => !mayRunOn(problem.constraints, model, name));
  const without = (never: readonly string[]): DeploymentProblem => ({
    ...less,
    constraints: { ...less.constraints, nodes: [...less.constraints.nodes, { model, never: [...never] }] },
  });
  let never: readonly string[] = [];
  for (const name of kept) if (servable(without([...never, name]), solver) === "yes") never = [...never, name];
  const needed = kept.filter((name) => !never.includes(name));
  return { nearest: needed.length, needs: `needs ${needed.join(", ")} as well` };
}
