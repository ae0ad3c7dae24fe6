import type { ClusterSummary, WorkloadSummary } from "@/server/contracts/studio";
import type { Knobs } from "@/solver/cascade/explore/exploration";
import { gpuCount } from "@/solver/plan/clusterGpus";
import type { PlanView } from "./planCodec";

/** Confidence of the lower bound a floor holds for, unless the operator asks for the point value. */
const FLOOR_CONFIDENCE = 0.9;
/** Defaults where no cluster suggests a rate or a floor. */
const FALLBACK = { requestsPerSecond: 10, qualityFloor: 80 } as const;

/** The address with its gaps filled from the cluster's suggestion. */
export interface PlanDefaults {
  readonly workload: string;
  readonly requestsPerSecond: number;
  readonly qualityFloor: number;
  readonly gpus: number;
}

/** null while there is no workload to plan for. */
export function planDefaults(cluster: ClusterSummary, workloads: readonly WorkloadSummary[]): PlanDefaults | null {
  const suggested = cluster.suggested;
  const workload = workloads.find((each) => each.id === suggested?.workloadId) ?? workloads[0];
  if (workload === undefined) return null;
  return {
    workload: workload.id,
    requestsPerSecond: suggested?.requestsPerSecond ?? FALLBACK.requestsPerSecond,
    qualityFloor: suggested?.qualityFloor ?? FALLBACK.qualityFloor,
    gpus: gpuCount(cluster.spec),
  };
}

/** Values of sliders whose thumbs are held. They override the address, which takes them when the thumb is released. */
export type DraftKnobs = Partial<Knobs> & { readonly tau?: number };

/**
 * The knobs in the planner's form. `maxGpus` never exceeds the cluster's GPUs, whatever the address says. Slack is left out where it has no
 * effect: off, with the highest quality, with the highest rate, and 0 with the lowest latency. For the highest rate, the plan at each rate
 * is the fastest one.
 */
export function knobsOf(view: PlanView, defaults: PlanDefaults): Knobs {
  const kind = view.kind === "highest-rate" ? "latency-under-quality" : view.kind;
  const takesSlack = view.kind === "latency-under-quality" || view.kind === "cost-under-both";
  const hasSlack = view.slack !== null && takesSlack && (view.slack > 0 || view.kind === "cost-under-both");
  return {
    kind,
    latency: view.latency,
    qualityFloor: view.qualityFloor ?? defaults.qualityFloor,
    qualityConfidence: view.heldFor === "bound" ? FLOOR_CONFIDENCE : null,
    latencyBudgetSeconds: view.latencyBudgetSeconds,
    ...(hasSlack && { slack: view.slack / 100 }),
    maxGpus: Math.min(view.gpus ?? defaults.gpus, defaults.gpus),
  };
}
