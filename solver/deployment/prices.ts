import { constraintsOf, type NamedConstraint } from "./constraints";
import { fasterThan, leastLatency } from "./leastLatency";
import type { DeploymentNode, DeploymentProblem, Solving } from "./problem";
import { type TimedSolver, timedSolver } from "./timedSolver";

/** What more hardware of one GPU type would bring. Seconds are of the slowest stage; null where the time ran out. */
export interface GpuPrice {
  readonly gpu: string;
  /** With a node of one such GPU more. */
  readonly secondsWithGpu: number | null;
  /** GPUs of the largest node of the type, and the latency with one more of it. */
  readonly nodeGpus: number;
  readonly secondsWithNode: number | null;
}

/** A constraint without which the latency would be lower. */
export interface BindingConstraint extends Pick<NamedConstraint, "kind" | "model" | "says"> {
  readonly secondsWithout: number;
}

/**
 * Shadow prices of a deployment of least latency, each by solving again: with hardware more (a cap on GPUs raised by as many), and
 * without each constraint alone.
 *
 * @param latencySeconds the least latency of the problem as it is.
 */
export function deploymentPrices(
  problem: DeploymentProblem,
  latencySeconds: number,
  solving: Solving,
): { readonly gpus: readonly GpuPrice[]; readonly binds: readonly BindingConstraint[] } {
  const solver = timedSolver(solving);
  const secondsOf = (other: DeploymentProblem): number | null => improvedSeconds(other, latencySeconds, solver);
  const gpus = [...new Set(problem.nodes.map(({ gpu }) => gpu))].map((gpu): GpuPrice => {
    const nodeGpus = Math.max(...problem.nodes.filter((node) => node.gpu === gpu).map((node) => node.gpus));
    return {
      gpu,
      secondsWithGpu: secondsOf(withNode(problem, { name: "one GPU more", gpu, gpus: 1 })),
      nodeGpus,
      secondsWithNode: secondsOf(withNode(problem, { name: "one node more", gpu, gpus: nodeGpus })),
    };
  });
  const binds = constraintsOf(problem).flatMap((name): BindingConstraint[] => {
    const secondsWithout = secondsOf(name.without(problem));
    const { kind, model, says } = name;
    return secondsWithout === null || secondsWithout >= latencySeconds ? [] : [{ kind, model, says, secondsWithout }];
  });
  return { gpus, binds };
}

/** The least latency of a problem that allows more than one whose least latency is known. */
function improvedSeconds(problem: DeploymentProblem, knownSeconds: number, solver: TimedSolver): number | null {
  const faster = fasterThan(problem, solver, knownSeconds);
  if (faster === "none") return knownSeconds;
  if (faster === "undecided") return null;
  const least = leastLatency(problem, solver, faster.seconds);
  return least.outcome === "found" ? least.seconds : null;
}

function withNode(problem: DeploymentProblem, node: DeploymentNode): DeploymentProblem {
  const { maxGpus } = problem.constraints;
  return {
    ...problem,
    nodes: [...problem.nodes, node],
    constraints: { ...problem.constraints, maxGpus: maxGpus === null ? null : maxGpus + node.gpus },
  };
}
