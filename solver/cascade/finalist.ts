import type { StageOutcome } from "../cluster/clusterOutcome";
import { simulateCluster } from "../cluster/simulateCluster";
import { utilisationAt } from "../engine/saturation";
import { MAX_SEQUENCES } from "../hardware/replicaShapes";
import { sameOptimum } from "../milp/agreement";
import { type AllocationProblem, allocationModel, readAllocation } from "../milp/allocation";
import { minMaxAllocation } from "../milp/bisection";
import type { MilpEngine } from "../milp/engine";
import { weightedAllocation } from "../milp/weightedAllocation";
import { mean, quantile } from "../numeric/quantile";
import type { CascadePolicy, ClusterSpec, ModelDeployment, Objective, SolverReport } from "../plan/plan";
import { buildPolicy } from "../policies/buildPolicy";
import { drawSample } from "../workload/sample";
import type { Workload } from "../workload/workload";
import { latencyByGpus, replicasFor } from "./capacityTable";
import { STARVATION_LIMIT } from "./allocate";
import type { Explorer } from "./explore";
import type { MixTables } from "./latencyTables";
import { placeReplicas } from "./placeReplicas";
import { type Statistic, statistic } from "./predictionBand";
import type { ShapeCount } from "./shapeMix";

/** A routing deployed to the last GPU and simulated whole. */
export interface Finalist {
  readonly routing: number;
  readonly deployment: readonly DeployedStage[];
  /** Objective latency that the tables promised, in seconds. */
  readonly tableSeconds: number;
  /** Objective latency of the whole simulation, in seconds. */
  readonly verifiedSeconds: number;
  /** Requests of the whole simulation. */
  readonly requests: number;
  /** End-to-end latencies in it, and those of each stage, the first requests left out: they find the cluster filling up. */
  readonly endToEndSeconds: Float64Array;
  readonly measured: readonly MeasuredStage[];
  readonly proof: AllocationProof;
}

/** A stage in the whole simulation. Percentiles are at the objective's. */
interface MeasuredStage {
  readonly percentile: Statistic;
  readonly mean: Statistic;
  /** Of the time to the first token. */
  readonly ttftPercentile: Statistic;
}

/** What the plan's solver report says of the allocation. */
export type AllocationProof = Pick<SolverReport, "status" | "gap" | "engine">;

interface StageReplicas {
  readonly model: string;
  readonly replicas: readonly ShapeCount[];
  /** Latency percentile by the tables, in seconds. */
  readonly tableSeconds: number;
  /** Rate at which the stage's replicas finish requests when they never run dry. */
  readonly saturationRequestsPerSecond: number;
  /** Requests per second over that rate. */
  readonly utilisation: number;
}

export interface DeployedStage extends StageReplicas {
  readonly gpus: number;
  /** The replicas with their GPUs on nodes, as a plan lists them. */
  readonly groups: ModelDeployment["replicas"];
}

export interface FinalistInput {
  readonly explorer: Explorer;
  readonly workload: Workload;
  readonly cluster: ClusterSpec;
  readonly objective: Objective;
  readonly engine: MilpEngine;
  /** The policy of the routing, as the gateway will run it. */
  readonly policyOf: (routing: number) => CascadePolicy;
  /** Told when deploying begins, and when simulating does. */
  readonly progress: (phase: "deploying" | "simulating") => void;
}

/** Time the MILP may take; its optimum is known from the exact allocation, so running out costs the proof by a second solver only. */
const MILP_LIMITS = { timeLimitSeconds: 5, relativeGap: 0 };

/**
 * Requests simulated to verify a plan: the recorded trace once through, within these bounds. Its first minute alone would miss
 * the bursts that come later: on the conversation trace of Azure that made a p95 20 % too low.
 */
const VERIFIED_REQUESTS = { least: 2500, most: 20_000 };

/** Share of the simulated requests that find the cluster filling up and are left out. */
const WARM_UP_SHARE = 0.15;

/**
 * Deploys one routing with tables simulated for exactly its own requests: allocation by the MILP (held against the exact allocation),
 * replicas, GPUs on nodes, and a simulation of the whole cascade under the policy that the gateway runs.
 *
 * @returns null when it does not keep up, or its replicas do not fit the nodes.
 */
export function deployFinalist(input: FinalistInput, routing: number): Finalist | null {
  const { explorer, cluster, objective } = input;
  input.progress("deploying");
  const routed = explorer.routing(routing);
  const { stages } = routed;
  const tables = explorer.mixes(routed).map((mix, stage) => explorer.tables.exact(stages[stage] ?? 0, mix));
  const most = Math.min(objective.maxGpus, explorer.input.maxGpus);
  // Nodes that no power of two divides may have no room for the last group: the same on fewer GPUs then.
  for (let gpus = most; gpus >= stages.length; gpus -= 1) {
    const allocated = allocateExactly(input, { routing, tables, gpus });
    if (allocated === null) return null;
    const deployment = deploy(input, { routing, tables, gpus: allocated.gpus });
    const placed = deployment === null ? null : place(deployment, cluster);
    if (placed !== null) return verify(input, { routing, deployment: placed, allocated });
  }
  return null;
}

interface Allocated {
  readonly gpus: readonly number[];
  readonly tableSeconds: number;
  readonly proof: AllocationProof;
}

interface RoutingTables {
  readonly routing: number;
  readonly tables: readonly MixTables[];
}

/** The allocation on tables of the routing's own requests, by the MILP and exactly; both must find the same optimum. */
function allocateExactly(input: FinalistInput, { routing, tables, gpus }: RoutingTables & { readonly gpus: number }): Allocated | null {
  const { explorer, objective, engine } = input;
  const cascade = explorer.routing(routing);
  const { routed } = cascade;
  const seconds = tables.map(({ capacity }, stage) => {
    const table = new Float64Array(gpus);
    latencyByGpus(capacity, explorer.input.requestsPerSecond * (routed.share[stage] ?? 0), table);
    return table;
  });
  const even = minMaxAllocation(seconds, gpus);
  if (even === null) return null;
  const at = (given: readonly number[]) => seconds.map((table, stage) => table[(given[stage] ?? 1) - 1] ?? Number.POSITIVE_INFINITY);
  const { weights } = explorer.compose(cascade, at(even.gpus), tables);
  const weighted = { weights, stageLimitSeconds: STARVATION_LIMIT * even.latencySeconds };
  const endToEnd = objective.latency === "end-to-end";
  // The even allocation lies within the limit, so a weighted one exists.
  const exact = endToEnd ? (weightedAllocation(seconds, gpus, weighted) ?? even) : even;
  const problem: AllocationProblem = {
    tables: seconds,
    gpus,
    objective: endToEnd ? { kind: "weighted-sum", ...weighted } : { kind: "largest-stage" },
  };
  return {
    gpus: exact.gpus,
    tableSeconds: endToEnd ? explorer.compose(cascade, at(exact.gpus), tables).seconds : exact.latencySeconds,
    proof: confirm(engine, problem, exact.latencySeconds),
  };
}

/** Solves the allocation as a MILP and holds it against the exact optimum. */
function confirm(engine: MilpEngine, problem: AllocationProblem, exactSeconds: number): AllocationProof {
  const model = allocationModel(problem);
  const result = engine.solve(model, MILP_LIMITS);
  if (result.status === "feasible" || result.status === "undecided") {
    const bound = result.status === "feasible" ? result.bound : undefined;
    return {
      status: "feasible",
      gap: bound === undefined ? null : Math.max(0, (exactSeconds - bound) / exactSeconds),
      engine: `exact allocation; ${engine.name} ran out of time`,
    };
  }
  // Valued on the tables: the objective itself is off by what the engine allows its rows.
  if (result.status === "infeasible" || !sameOptimum(readAllocation(problem, model, result.x).latencySeconds, exactSeconds)) {
    throw new Error(`${engine.name} (${JSON.stringify(result)}) and the exact allocation (${exactSeconds} s) disagree`);
  }
  return { status: "optimal", gap: result.gap ?? 0, engine: `${engine.name}, equal to the exact allocation` };
}

function deploy({ explorer }: FinalistInput, { routing, tables, gpus }: RoutingTables & Pick<Allocated, "gpus">): StageReplicas[] | null {
  const { stages, routed } = explorer.routing(routing);
  const deployed: StageReplicas[] = [];
  for (const [stage, { capacity }] of tables.entries()) {
    const requestsPerSecond = explorer.input.requestsPerSecond * (routed.share[stage] ?? 0);
    const best = replicasFor(capacity, requestsPerSecond, gpus[stage] ?? 0);
    if (best === null) return null;
    const saturationRequestsPerSecond = best.replicas.reduce((sum, { shape, count }) => {
      const curve = capacity.shapes.find((candidate) => candidate.shape === shape)?.curve;
      return sum + count * (curve?.saturationRequestsPerSecond ?? 0);
    }, 0);
    const model = explorer.input.sample.models[stages[stage] ?? 0] ?? "";
    const utilisation = utilisationAt(requestsPerSecond, saturationRequestsPerSecond);
    deployed.push({ model, replicas: best.replicas, tableSeconds: best.seconds, saturationRequestsPerSecond, utilisation });
  }
  return deployed;
}

function place(stages: readonly StageReplicas[], cluster: ClusterSpec): DeployedStage[] | null {
  const wanted = stages.flatMap(({ replicas }, stage) =>
    replicas.flatMap(({ shape, count }, group) => Array.from({ length: count }, () => ({ key: stage * 64 + group, shape }))),
  );
  const placed = placeReplicas(wanted, cluster.nodes);
  if (placed === null) return null;
  return stages.map((stage, index) => {
    const rate = stage.replicas.reduce((sum, { count, requestsPerSecond }) => sum + count * requestsPerSecond, 0);
    return {
      ...stage,
      gpus: stage.replicas.reduce((sum, { shape, count }) => sum + shape.tp * shape.pp * count, 0),
      groups: stage.replicas.map(({ shape, count, requestsPerSecond }, group) => ({
        ...shape,
        count,
        shareEach: requestsPerSecond / rate,
        placements: placed.filter(({ key }) => key === index * 64 + group).map(({ placements }) => [...placements]),
      })),
    };
  });
}

function verify(
  input: FinalistInput,
  { routing, deployment, allocated }: { readonly routing: number; readonly deployment: DeployedStage[]; readonly allocated: Allocated },
): Finalist | null {
  const { explorer, workload, objective } = input;
  const { requestsPerSecond, shapes, sample: planning, judge, quantile: q } = explorer.input;
  input.progress("simulating");
  const requests = Math.min(VERIFIED_REQUESTS.most, Math.max(VERIFIED_REQUESTS.least, workload.arrivalSeconds.length));
  const outcome = simulateCluster({
    policy: buildPolicy(input.policyOf(routing)),
    replicas: deployment.flatMap(({ model, replicas }) => {
      const own = shapes[planning.models.indexOf(model)] ?? [];
      return replicas.flatMap(({ shape, count }) => {
        const replica = own.find((candidate) => candidate.shape === shape)?.replica;
        if (replica === undefined) return [];
        const name = `${model} ${shape.tp}x${shape.pp}`;
        return Array.from({ length: count }, (_, index) => ({ id: `${name} ${index}`, model, replica, maxInFlight: MAX_SEQUENCES }));
      });
    }),
    sample: drawSample(workload, { part: "planning", requestsPerSecond, requests, seed: explorer.input.seed }),
    outcomes: workload.outcomes,
    judgeSeconds: judge.secondsPerCall,
  });
  if (outcome.unserved > 0) return null;
  const warmUp = Math.floor(WARM_UP_SHARE * requests);
  const endToEndSeconds = outcome.endToEndSeconds.subarray(warmUp);
  const measured = outcome.stages.map((stage) => settledStage(stage, warmUp, q));
  const verifiedSeconds =
    objective.latency === "end-to-end" ? quantile(endToEndSeconds, q) : Math.max(...measured.map((stage) => stage.percentile.seconds));
  return {
    routing,
    deployment,
    tableSeconds: allocated.tableSeconds,
    verifiedSeconds,
    endToEndSeconds,
    requests,
    measured,
    proof: allocated.proof,
  };
}

/** Latencies of a stage over the requests after the warm-up, at the objective's percentile, with their spread over the traffic. */
export function settledStage(
  { request, latencySeconds, ttftSeconds }: Pick<StageOutcome, "request" | "latencySeconds" | "ttftSeconds">,
  warmUp: number,
  q: number,
): MeasuredStage {
  const settled = (values: Float64Array): Float64Array => values.filter((_, answer) => (request[answer] ?? 0) >= warmUp);
  const latencies = settled(latencySeconds);
  const percentile = (seconds: Float64Array): number => quantile(seconds, q);
  return {
    percentile: statistic(latencies, percentile),
    mean: statistic(latencies, mean),
    ttftPercentile: statistic(settled(ttftSeconds), percentile),
  };
}
