import { type Deployment, exhaustiveSearch, type TriedShapes, tableSeconds } from "@/solver/baselines/exhaustive";
import { drawTraffic, measure } from "@/solver/baselines/measure";
import { instanceExplorer, type RandomInstance } from "@/solver/baselines/randomInstance";
import type { System } from "@/solver/baselines/system";
import type { Explorer } from "@/solver/cascade/explore/explorer";
import { buildPlan } from "@/solver/cascade/plan/buildPlan";
import type { MilpEngine } from "@/solver/milp/engine";
import type { Objective } from "@/solver/plan/plan";

/** The planner's plan of an instance, compared with the best one. */
export interface HeldAgainstExhaustive {
  readonly planned: string;
  readonly best: string;
  /** Objective latency of both by the same tables, in seconds. */
  readonly plannedSeconds: number;
  readonly bestSeconds: number;
  /** The same for both, simulated whole under the same traffic. */
  readonly plannedWholeSeconds: number;
  readonly bestWholeSeconds: number;
  /** Searched plans: routings, and all their deployments. */
  readonly routings: number;
  readonly plans: number;
  /** Wall time of one whole simulation, in seconds: the cost of each plan in a search without tables. */
  readonly wholeSimulationSeconds: number;
  /** Wall time of each, in seconds, each from an empty explorer. */
  readonly planningSeconds: number;
  readonly exhaustiveSeconds: number;
}

/**
 * Plans an instance and searches it exhaustively, on separate explorers with the same simulator, thresholds and shapes.
 *
 * @param shapes "every": exhaustive search also tries the shapes that the planner leaves out of its tables, and both plans are compared on
 * tables with all of them.
 * @returns null if exhaustive search finds no plan either. If only the planner finds none, its latencies are Infinity and its reason
 *   is returned in place of the plan.
 */
export function holdAgainstExhaustive(
  instance: RandomInstance,
  latency: Objective["latency"],
  { engine, nowSeconds, shapes }: { readonly engine: MilpEngine; readonly nowSeconds: () => number; readonly shapes?: TriedShapes },
): HeldAgainstExhaustive | null {
  const { workload, cluster, floor } = instance;
  const begun = nowSeconds();
  const explorer = instanceExplorer(instance);
  const built = buildPlan({
    explorer,
    workload,
    workloadId: workload.name,
    cluster,
    requestsPerSecond: explorer.input.requestsPerSecond,
    objective: {
      kind: "latency-under-quality",
      latency,
      percentile: 95,
      qualityFloor: floor,
      qualityConfidence: 0.9,
      latencyBudgetSeconds: null,
      maxGpus: explorer.input.maxGpus,
    },
    fixed: null,
    engine,
    elapsedSeconds: () => nowSeconds() - begun,
  });
  const planned = nowSeconds();
  const best = exhaustiveSearch({ explorer: instanceExplorer(instance), floor, latency, ...(shapes === undefined ? {} : { shapes }) });
  const searched = nowSeconds();
  if (best === null) return null;
  const simulated = nowSeconds();
  const bestWholeSeconds = wholeSeconds(instance, best, { explorer, latency });
  const common = {
    best: textOf(instance, best),
    bestSeconds: best.seconds,
    bestWholeSeconds,
    routings: best.routings,
    plans: best.plans,
    wholeSimulationSeconds: nowSeconds() - simulated,
    planningSeconds: planned - begun,
    exhaustiveSeconds: searched - planned,
  };
  if (built.outcome === "infeasible") {
    const never = Number.POSITIVE_INFINITY;
    return { ...common, planned: built.reason, plannedSeconds: never, plannedWholeSeconds: never };
  }
  const { deployment, policy } = built.draft;
  const { models } = explorer.input.sample;
  const plan = {
    stages: policy.stages.map(({ model }) => models.indexOf(model)),
    thresholds: policy.thresholds,
    replicas: deployment.map(({ replicas }) => replicas.map(({ tp, pp, count }) => ({ shape: { tp, pp }, count }))),
  };
  return {
    ...common,
    planned: textOf(instance, plan),
    plannedSeconds: tableSeconds(explorer, plan, latency, shapes),
    plannedWholeSeconds: wholeSeconds(instance, plan, { explorer, latency }),
  };
}

/** Objective latency of a plan simulated whole, in seconds. */
function wholeSeconds(
  { workload, requestsPerSecond }: RandomInstance,
  { stages, thresholds, replicas }: Deployment,
  { explorer, latency }: { readonly explorer: Explorer; readonly latency: Objective["latency"] },
): number {
  const { outcomes, arrivalSeconds, seed } = workload;
  const { models } = explorer.input.sample;
  const rows = Int32Array.from(outcomes.promptIds.keys());
  const system: System = {
    name: workload.name,
    stages: stages.map((model, stage) => ({ model: models[model] ?? "", replicas: replicas[stage] ?? [] })),
    routing: { kind: "cascade", thresholds },
  };
  const source = { outcomes, arrivalSeconds, judgeSeconds: explorer.input.judge.secondsPerCall };
  const traffic = drawTraffic(source, { rows, requests: arrivalSeconds.length, seed });
  const measured = measure(system, traffic, { models, shapes: explorer.input.shapes, requestsPerSecond });
  return latency === "largest-stage" ? measured.largestStagePercentileSeconds : measured.percentileSeconds;
}

const textOf = ({ workload }: RandomInstance, { stages, thresholds, replicas }: Deployment): string =>
  stages
    .map((model, stage) => {
      const shapes = (replicas[stage] ?? []).map(({ shape, count }) => `${count} x tp${shape.tp}${shape.pp > 1 ? ` pp${shape.pp}` : ""}`);
      return `${workload.outcomes.models[model]?.model} ${shapes.join(" + ")}${stage < thresholds.length ? ` <${thresholds[stage]}> ` : ""}`;
    })
    .join("");
