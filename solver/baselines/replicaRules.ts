import type { ReplicaShape } from "../hardware/parallelism";
import type { SystemStage } from "./system";

/** The replicas that a system deploys, by model. */
export type DeployedModels = readonly Pick<SystemStage, "model" | "replicas">[];

/** What constraints ask for to give a model the replicas that a system has: this shape alone, and at least so many. */
export interface ReplicaRule {
  readonly model: string;
  readonly shape: ReplicaShape;
  readonly count: number;
}

/** The constraints that ask for a system's replicas; null where a model has several shapes, which constraints cannot ask for. */
export function replicaRules(deployed: DeployedModels): readonly ReplicaRule[] | null {
  const rules = new Map<string, ReplicaRule>();
  for (const { model, replicas } of deployed)
    for (const { shape, count } of replicas) {
      if (count === 0) continue;
      const known = rules.get(model);
      if (known !== undefined && (known.shape.tp !== shape.tp || known.shape.pp !== shape.pp)) return null;
      rules.set(model, { model, shape: { tp: shape.tp, pp: shape.pp }, count: count + (known?.count ?? 0) });
    }
  return [...rules.values()];
}
