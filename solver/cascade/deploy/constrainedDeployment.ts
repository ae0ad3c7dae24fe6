import type { DeploymentProblem } from "@/solver/deployment/problem";
import { type Deployment, solveDeployment } from "@/solver/deployment/solveDeployment";
import { countByCurve, leastSeconds } from "@/solver/deployment/stageLatency";
import { gpuCount, gpuOfNode, gpuPrices, gpuTypes } from "@/solver/plan/clusterGpus";
import type { ClusterSpec, RunningReplica } from "@/solver/plan/clusterSpec";
import { allowsReplica, type PlanConstraints } from "@/solver/plan/constraints";
import type { DeployedRow } from "../tables/deployedRows";
import type { MixTables } from "../tables/latencyTables";
import type { ShapeCurve } from "../tables/shapeMix";
import type { FinalistInput, NodeLoss } from "./deployed";

/** Inputs of deployments under constraints. */
export type Constrained = Pick<
  FinalistInput,
  "explorer" | "cluster" | "objective" | "constraints" | "running" | "engine" | "elapsedSeconds"
>;

/** A routing with the curves of its stages' replicas, by shared tables or by its own. */
export interface RoutingCurves {
  readonly routing: number;
  /** Per row of `rowsToDeploy`. */
  readonly shapes: readonly (readonly ShapeCurve[])[];
  /** Per row of the explorer's. */
  readonly norms: readonly Pick<MixTables, "relativePercentile">[];
  /** Latency of each such row in the best allocation without constraints; null where no allocation sustains the load. */
  readonly aim: readonly number[] | null;
}

/** A deployment with its objective latency by the tables with all nodes up. */
export interface TimedDeployment {
  readonly deployment: Deployment;
  readonly seconds: number;
  /** After the worst loss of a node where a loss is to be survived, else the same; the latency budget applies to it. */
  readonly secondsAfterLoss: number;
  /** null where no loss is to be survived. */
  readonly loss: NodeLoss | null;
}

/** Whether a deployment takes more than GPU counts per stage: several GPU types, something that runs, or a constraint on replicas. */
export function isConstrained({ cluster, constraints, running }: Pick<Constrained, "cluster" | "constraints" | "running">): boolean {
  const { pinned, nodes, minReplicasPerModel, surviveNodeLoss, maxChangedReplicas, idleGpus } = constraints;
  const onReplicas =
    pinned.length > 0 || nodes.length > 0 || minReplicasPerModel !== null || surviveNodeLoss || maxChangedReplicas !== null;
  return onReplicas || !idleGpus || running.length > 0 || gpuTypes(cluster).length > 1;
}

/** GPUs that a plan may use: requested, present, and allowed by the caps on GPUs and cost (on several types: on the cheapest GPUs). */
export function gpusAllowed(cluster: ClusterSpec, { maxGpus, maxUsdPerHour }: PlanConstraints, asked: number): number {
  const cheapest = Math.min(...Object.values(gpuPrices(cluster)));
  const paid = maxUsdPerHour === null || cheapest === 0 ? Number.POSITIVE_INFINITY : Math.floor(maxUsdPerHour / cheapest + 1e-9);
  return Math.min(asked, maxGpus ?? Number.POSITIVE_INFINITY, paid, gpuCount(cluster));
}

/** The rows deployed for a routing: the explorer's rows and, after them, the other pinned models, without load. */
export function rowsToDeploy({ explorer, constraints }: Constrained, routing: number): readonly DeployedRow[] {
  const rows = explorer.rows(explorer.routing(routing));
  const { models, prompts } = explorer.input.sample;
  const everything = { prompts: Int32Array.from({ length: prompts }, (_, prompt) => prompt), share: 1 };
  const pinned = [...new Set(constraints.pinned.map(({ model }) => model))].filter(
    (model) => models.includes(model) && rows.every((row) => row.model !== model),
  );
  const kept = pinned.map((model): DeployedRow => {
    const index = models.indexOf(model);
    return {
      model,
      index,
      requestsPerSecond: 0,
      near: () => explorer.tables.near(index, everything),
      exact: (also) => explorer.tables.exact(index, everything, also),
      heldTokens: () => explorer.tables.heldTokens(index, everything),
    };
  });
  return [...rows, ...kept];
}

/** The deployment of one routing as a problem. */
function deploymentProblem(input: Constrained, { routing, shapes }: Pick<RoutingCurves, "routing" | "shapes">): DeploymentProblem {
  const { cluster, constraints, objective, running, explorer } = input;
  const all = gpuCount(cluster);
  const rows = rowsToDeploy(input, routing);
  // Replicas of a fixed topology neither start nor stop: a plan takes all allowed replicas of its models and leaves the others unchanged.
  const fixed = explorer.input.fixedTopology !== undefined;
  const taken = (replica: RunningReplica): boolean =>
    rows.some(({ model }) => model === replica.model) && allowsReplica(constraints, replica);
  return {
    stages: rows.map(({ model, requestsPerSecond }, row) => ({
      model,
      requestsPerSecond,
      options: shapes[row] ?? [],
    })),
    nodes: cluster.nodes.map((node) => ({ name: node.name, gpus: node.gpus, gpu: gpuOfNode(cluster, node) })),
    usdPerGpuHour: gpuPrices(cluster),
    running: fixed ? running.filter(taken) : running,
    constraints: {
      ...constraints,
      ...(fixed ? { maxChangedReplicas: 0 } : {}),
      maxGpus: objective.maxGpus < all ? Math.min(objective.maxGpus, constraints.maxGpus ?? all) : constraints.maxGpus,
    },
    objective: { kind: "latency" },
  };
}

/**
 * The best deployment of one routing under the constraints. The MILP minimises the largest stage latency. To lower the end-to-end latency,
 * stages are also weighted by their latency in the best allocation without constraints, and the better of both results is kept. For the
 * lowest cost, the limits are the stage latencies in that allocation and in the fastest deployment, scaled to the budget; then lower
 * caps on the cost are tried.
 *
 * @param asked the time for all MILPs, the latency bound of the lowest cost (null: any), and whether to go on to the best weights near
   those.
 * @returns `refused` when the constraints rule the routing out, null when nothing was found in time.
 */
export function bestDeployment(
  input: Constrained,
  curves: RoutingCurves,
  asked: { readonly seconds: number; readonly budgetSeconds: number | null; readonly refine?: boolean },
): TimedDeployment | "refused" | null {
  const { engine, objective, elapsedSeconds } = input;
  const problem = deploymentProblem(input, curves);
  const byCost = objective.kind === "cost-under-both";
  const endToEnd = objective.latency === "end-to-end";
  const solve = (one: DeploymentProblem): TimedDeployment | "refused" | null => {
    const found = solveDeployment(one, { engine, timeLimitSeconds: asked.seconds / (byCost ? 4 : 2), nowSeconds: elapsedSeconds });
    if (found.outcome === "deployment") return timedDeployment(input, curves, found);
    return found.outcome === "infeasible" ? "refused" : null;
  };
  const weighings = endToEnd && curves.aim !== null ? [weighed(problem, curves.aim), problem] : [problem];
  const fast = weighings.map(solve);
  const fastest = leastBy(fast, ({ secondsAfterLoss }) => secondsAfterLoss);
  if (fastest === null) return fast.includes("refused") ? "refused" : null;
  if (!byCost) return asked.refine && endToEnd ? refined(fastest, { problem, solve }) : fastest;
  // The cheapest deployment that sustains the load: none can cost less.
  const least = solve({ ...problem, objective: { kind: "cost", stageLimitSeconds: Number.POSITIVE_INFINITY } });
  if (least !== null && least !== "refused" && least.secondsAfterLoss <= (asked.budgetSeconds ?? Number.MAX_VALUE)) return least;
  const aims = [curves.aim, fastest.deployment.stages.slice(0, curves.norms.length).map(({ secondsAfterLoss }) => secondsAfterLoss)];
  const cheap = aims
    .flatMap((aim) => (aim === null ? [] : costProblem(input, curves, { problem, aim, budgetSeconds: asked.budgetSeconds })))
    .map(solve);
  const within = leastBy(cheap, ({ deployment }) => deployment.usdPerHour) ?? fastest;
  if (asked.budgetSeconds === null || !endToEnd || within.secondsAfterLoss > asked.budgetSeconds) return within;
  const steps = asked.refine ? CAP_STEPS.refined : CAP_STEPS.usually;
  const cheapest = cheapened(within, { budgetSeconds: asked.budgetSeconds, weighings, steps, solve });
  const { usdPerHour } = cheapest.deployment;
  const bound = least === null || least === "refused" ? 0 : least.deployment.usdPerHour;
  const gap = usdPerHour === 0 ? 0 : Math.max(0, 1 - bound / usdPerHour);
  return { ...cheapest, deployment: { ...cheapest.deployment, status: gap <= 1e-6 ? "optimal" : "feasible", bound, gap } };
}

/** Caps on the cost under which a cheaper deployment is searched for. */
const CAP_STEPS = { usually: 3, refined: 7 };

/**
 * Limits per stage constrain a stage that few requests reach as tightly as the others. So the cost cap is lowered step by step, and under
 * each cap the fastest deployment is searched for, until none meets the budget.
 */
function cheapened(
  start: TimedDeployment,
  {
    budgetSeconds,
    weighings,
    steps,
    solve,
  }: {
    readonly budgetSeconds: number;
    readonly weighings: readonly DeploymentProblem[];
    readonly steps: number;
    readonly solve: (one: DeploymentProblem) => TimedDeployment | "refused" | null;
  },
): TimedDeployment {
  let best = start;
  let low = 0;
  for (let step = 1; step <= steps; step += 1) {
    const { usdPerHour } = best.deployment;
    // The last cap is just below the cost found; prices are sums, so the cap has a small rounding margin.
    const maxUsdPerHour = step === steps ? 0.999 * usdPerHour : (1 + 1e-9) * ((low + usdPerHour) / 2);
    const capped = weighings.map((one) => solve({ ...one, constraints: { ...one.constraints, maxUsdPerHour } }));
    const found = leastBy(capped, ({ secondsAfterLoss }) => secondsAfterLoss);
    if (found !== null && found.secondsAfterLoss <= budgetSeconds) best = found;
    else low = maxUsdPerHour;
  }
  return best;
}

/** Factor by which one stage's weight is raised over the current deployment when a better one is searched for. */
const NUDGE = 1.1;

/**
 * Minimising the largest latency does not improve the stages below the largest. So each stage in turn gets a slightly higher weight than in
 * the best deployment so far, until none of these deployments has a lower end-to-end latency.
 */
function refined(
  start: TimedDeployment,
  {
    problem,
    solve,
  }: { readonly problem: DeploymentProblem; readonly solve: (one: DeploymentProblem) => TimedDeployment | "refused" | null },
): TimedDeployment {
  let best = start;
  for (let better = true; better; ) {
    const stageSeconds = best.deployment.stages.map(({ secondsAfterLoss }) => secondsAfterLoss);
    const nudged = stageSeconds.flatMap((own, stage) => (own > 0 ? [solve(weighed(problem, stageSeconds.with(stage, own / NUDGE)))] : []));
    const least = leastBy(nudged, ({ secondsAfterLoss }) => secondsAfterLoss);
    better = least !== null && least.secondsAfterLoss < best.secondsAfterLoss;
    if (better && least !== null) best = least;
  }
  return best;
}

function leastBy(found: readonly (TimedDeployment | "refused" | null)[], value: (one: TimedDeployment) => number): TimedDeployment | null {
  let least: TimedDeployment | null = null;
  for (const one of found) if (one !== null && one !== "refused" && (least === null || value(one) < value(least))) least = one;
  return least;
}

function timedDeployment(
  { explorer, objective, constraints }: Constrained,
  { routing, norms }: RoutingCurves,
  deployment: Deployment,
): TimedDeployment {
  const cascade = explorer.routing(routing);
  const rates = explorer.rows(cascade).map(({ requestsPerSecond }) => requestsPerSecond);
  const served = deployment.stages.slice(0, norms.length);
  const secondsOf = (stageSeconds: readonly number[]): number =>
    objective.latency === "end-to-end" && stageSeconds.every(Number.isFinite)
      ? explorer.compose(cascade, stageSeconds, norms).seconds
      : Math.max(...stageSeconds);
  const seconds = secondsOf(served.map((stage) => stage.seconds));
  if (!constraints.surviveNodeLoss) return { deployment, seconds, secondsAfterLoss: seconds, loss: null };
  const nodes = new Set(served.flatMap(({ replicas }) => replicas.flatMap(({ placements }) => placements.map(({ node }) => node))));
  const losses = [...nodes].map((node): NodeLoss => {
    const left = served.map(({ replicas }) => replicas.filter(({ placements }) => placements.every((part) => part.node !== node)));
    return { node, tableSeconds: secondsOf(left.map((own, stage) => leastSeconds(countByCurve(own), rates[stage] ?? 0))) };
  });
  const loss = losses.reduce((worst, one) => (one.tableSeconds > worst.tableSeconds ? one : worst));
  return { deployment, seconds, secondsAfterLoss: Math.max(seconds, loss.tableSeconds), loss };
}

/** The problem with weighted stages: those that may be slower have lower weights; the slowest has weight 1. */
function weighed(problem: DeploymentProblem, stageSeconds: readonly number[]): DeploymentProblem {
  const slowest = Math.max(...stageSeconds);
  return {
    ...problem,
    stages: problem.stages.map((stage, index) => ({ ...stage, latencyWeight: slowest / (stageSeconds[index] || slowest) })),
  };
}

/** The lowest cost with a latency limit per stage such that the limits together meet the budget; none where no scaled target does. */
function costProblem(
  { explorer, objective }: Constrained,
  { routing, norms }: RoutingCurves,
  {
    problem,
    aim,
    budgetSeconds,
  }: { readonly problem: DeploymentProblem; readonly aim: readonly number[]; readonly budgetSeconds: number | null },
): DeploymentProblem[] {
  const within = (base: DeploymentProblem, stageLimitSeconds: number): DeploymentProblem[] => [
    { ...base, objective: { kind: "cost", stageLimitSeconds } },
  ];
  if (budgetSeconds === null) return within(problem, Number.POSITIVE_INFINITY);
  if (objective.latency === "largest-stage") return within(problem, budgetSeconds);
  const { seconds, judgeSeconds } = explorer.compose(explorer.routing(routing), aim, norms);
  const stretch = (budgetSeconds - judgeSeconds) / (seconds - judgeSeconds);
  return stretch > 0 ? within(weighed(problem, aim), stretch * Math.max(...aim)) : [];
}
