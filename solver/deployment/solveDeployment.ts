import { rateWithin } from "../engine/loadCurve";
import type { Row } from "../milp/model";
import { type DeploymentModel, deploymentModel } from "./deploymentModel";
import { type Expression, evaluate, minimising, rowOf, scaled, sumOf } from "./expression";
import { leastLatency } from "./leastLatency";
import { type DeploymentProblem, type PlacedReplica, problemRefusal, type Solving } from "./problem";
import { readDeployment } from "./readDeployment";
import { largestSeconds, type StageSeconds, stageSeconds } from "./stageLatency";
import { type TimedSolver, timedSolver } from "./timedSolver";

/** Relative precision of latencies. */
const PRECISION = 1e-6;

interface DeployedReplica extends PlacedReplica {
  /** Share of the stage's requests, chosen so that all its replicas have the same latency. */
  readonly share: number;
}

export interface DeployedStage extends StageSeconds {
  readonly model: string;
  readonly replicas: readonly DeployedReplica[];
}

/**
 * A deployment on named nodes. `optimal`: its latency (or, by cost, its price) is minimal, to a millionth; `feasible`: the
 * time ran out, and no deployment is below `bound`.
 */
export interface Deployment {
  readonly outcome: "deployment";
  readonly status: "optimal" | "feasible";
  readonly stages: readonly DeployedStage[];
  /** The largest of the stages', weighted; after the worst loss of a node where requested. */
  readonly latencySeconds: number;
  readonly usdPerHour: number;
  readonly gpus: number;
  /** Number of replicas to start, and of running replicas to stop. */
  readonly started: number;
  readonly stopped: number;
  /** Lower bound: seconds, or USD/hour by cost. */
  readonly bound: number;
  /** (value - bound) / value. */
  readonly gap: number;
  readonly solver: { readonly engine: string; readonly milps: number; readonly seconds: number };
}

export type DeploymentOutcome = Deployment | { readonly outcome: "infeasible" } | { readonly outcome: "undecided" };

/**
 * The best deployment under the operators' constraints: the smallest latency by bisection over MILPs, each of which determines whether any
 * deployment serves all stages within a latency; then, at that latency, the secondary goals in order. Every latency is evaluated
 * exactly on the curves, never taken from a solver's objective.
 *
 * @param within a weighted latency in seconds of a known deployment, if any: nothing above it is tried.
 * @throws when the problem is malformed (`problemRefusal` says why).
 */
export function solveDeployment(problem: DeploymentProblem, solving: Solving, within = Number.POSITIVE_INFINITY): DeploymentOutcome {
  const refusal = problemRefusal(problem);
  if (refusal !== null) throw new Error(refusal);
  const solver = timedSolver(solving);
  const found = problem.objective.kind === "cost" ? null : leastLatency(problem, solver, within);
  if (found !== null && found.outcome !== "found") return found;
  const limitSeconds = problem.objective.kind === "cost" ? problem.objective.stageLimitSeconds : (found?.seconds ?? 0);
  const improved = lesserGoals(problem, limitSeconds, solver);
  if (improved === "infeasible" && found === null) return { outcome: "infeasible" };
  let replicas = found?.replicas ?? null;
  // Among equals the secondary goals decide; a point above the latency within a solver's tolerance does not count.
  if (improved !== "infeasible" && improved !== null) {
    const seconds = largestSeconds(problem, stageSeconds(problem, improved.replicas));
    if (replicas === null || seconds <= limitSeconds * (1 + PRECISION)) replicas = improved.replicas;
  }
  if (replicas === null) return { outcome: "undecided" };
  const deployed = describe(problem, replicas);
  const value = found === null ? deployed.usdPerHour : deployed.latencySeconds;
  const bound = Math.min(
    value,
    found === null ? (improved === null || improved === "infeasible" ? 0 : improved.bound) : found.boundSeconds,
  );
  const gap = value === 0 ? 0 : (value - bound) / value;
  return {
    outcome: "deployment",
    status: gap <= PRECISION ? "optimal" : "feasible",
    ...deployed,
    bound,
    gap,
    solver: { engine: solving.engine.name, milps: solver.milps(), seconds: solver.seconds() },
  };
}

/** One goal after another, each fixed while the next is improved. null when no solve ended in time. */
function lesserGoals(
  problem: DeploymentProblem,
  limitSeconds: number,
  solver: TimedSolver,
): { readonly replicas: readonly PlacedReplica[]; readonly bound: number } | "infeasible" | null {
  const model = deploymentModel(problem, { limitSeconds: limitSeconds * (1 + 1e-9), load: 1, keep: problem.running.length > 0 });
  const rows: Row[] = [];
  let x: Float64Array | null = null;
  let bound: number | null = null;
  for (const [index, { expression, whole }] of goalsOf(problem, model).entries()) {
    const result = solver.solve(minimising(model.milp, expression, rows));
    if (result.status === "infeasible" && index === 0) return "infeasible";
    if (result.status !== "optimal" && result.status !== "feasible") break;
    x = result.x;
    bound ??= (result.bound ?? 0) + expression.constant;
    const value = evaluate(expression, x);
    rows.push(rowOf(`goal_${index}`, expression, "<=", whole ? value + 0.5 : value + 1e-9 * Math.max(1, value)));
  }
  return x === null ? null : { replicas: readDeployment(problem, model, x), bound: bound ?? 0 };
}

function goalsOf(
  { running, objective, nodes, usdPerGpuHour }: DeploymentProblem,
  model: DeploymentModel,
): readonly { readonly expression: Expression; readonly whole: boolean }[] {
  const prices = new Set(nodes.map(({ gpu }) => usdPerGpuHour[gpu]));
  const changes = running.length === 0 ? [] : [{ expression: model.changes, whole: true }];
  // With one price the fewest GPUs cost least.
  const cost = prices.size === 1 && objective.kind === "latency" ? [] : [{ expression: model.usdPerHour, whole: false }];
  // Shorter pipelines break ties: their weights sum to less than one GPU.
  const most = nodes.reduce((sum, { gpus }) => sum + gpus, 0);
  const gpus = { expression: sumOf([model.gpus, scaled(model.crossings, 1 / (2 * most))]), whole: false };
  return objective.kind === "cost" ? [...cost, ...changes, gpus] : [...changes, ...cost, gpus];
}

function describe(
  problem: DeploymentProblem,
  replicas: readonly PlacedReplica[],
): Pick<Deployment, "stages" | "latencySeconds" | "usdPerHour" | "gpus" | "started" | "stopped"> {
  const seconds = stageSeconds(problem, replicas);
  const stages = problem.stages.map(({ model, requestsPerSecond }, stage): DeployedStage => {
    const own = replicas.filter((replica) => replica.stage === stage);
    const of = seconds[stage] ?? { seconds: 0, secondsAfterLoss: 0 };
    const rates = own.map(({ option }) => (requestsPerSecond > 0 ? rateWithin(option.curve, of.seconds) : 1));
    const sum = rates.reduce((total, rate) => total + rate, 0);
    return { model, ...of, replicas: own.map((replica, index) => ({ ...replica, share: (rates[index] ?? 0) / sum })) };
  });
  const gpusOf = ({ option }: PlacedReplica): number => option.shape.tp * option.shape.pp;
  const kept = replicas.filter(({ running }) => running !== null).length;
  return {
    stages,
    latencySeconds: largestSeconds(problem, seconds),
    usdPerHour: replicas.reduce((sum, replica) => sum + gpusOf(replica) * (problem.usdPerGpuHour[replica.option.gpu] ?? 0), 0),
    gpus: replicas.reduce((sum, replica) => sum + gpusOf(replica), 0),
    started: replicas.length - kept,
    stopped: problem.running.length - kept,
  };
}
