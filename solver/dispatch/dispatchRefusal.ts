import type { Explorer } from "@/solver/cascade/explore/explorer";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { gpuTypes } from "@/solver/plan/clusterGpus";
import { noConstraints } from "@/solver/plan/constraints";

/**
 * Why slack dispatch is not planned.
 * - `one-model`: there is nothing to dispatch between.
 * - `constraints`: a constraint on single replicas or nodes is asked for.
 * - `gpu-types`: the cluster has several types of GPUs.
 * - `shared-engines`: models share an engine.
 * - `overloaded`: no division of the GPUs sustains the load.
 */
export interface NoDispatch {
  readonly kind: "one-model" | "constraints" | "gpu-types" | "shared-engines" | "overloaded";
  readonly reason: string;
}

/** Why slack dispatch cannot be planned in a situation; null where it can. */
export function dispatchRefusal(
  { cluster, constraints = noConstraints, topology }: Pick<PlanningSituation, "cluster" | "constraints" | "topology">,
  { input: { sample, shapes, fixedTopology, sharedEngines } }: Pick<Explorer, "input">,
): NoDispatch | null {
  if (gpuTypes(cluster).length > 1)
    return { kind: "gpu-types", reason: "Slack dispatch is planned on one type of GPU, and this cluster has several." };
  if (sharedEngines !== undefined)
    return {
      kind: "shared-engines",
      reason: "Slack dispatch is planned where each engine serves one model, and here adapters share engines.",
    };
  const { pinned, nodes, minReplicasPerModel, surviveNodeLoss, maxChangedReplicas, idleGpus } = constraints;
  const onReplicas = pinned.length > 0 || minReplicasPerModel !== null || surviveNodeLoss || maxChangedReplicas !== null || !idleGpus;
  if (onReplicas || (nodes.length > 0 && topology !== "given"))
    return {
      kind: "constraints",
      reason: "Slack dispatch is planned without constraints on replicas and nodes: only excluded models, shapes, GPUs and cost are kept.",
    };
  const models = sample.models.filter((_, model) => (fixedTopology === undefined ? shapes[model] : fixedTopology[model])?.length);
  if (models.length >= 2) return null;
  return {
    kind: "one-model",
    reason: `Slack dispatch chooses between models, and only ${models[0] ?? "none"} of this workload can run here.`,
  };
}
