import { constraintsOf, type PlanConstraints } from "../deployment/constraints";
import type { ConflictingConstraint } from "../deployment/explainInfeasible";
import type { ClusterSpec, Objective } from "../plan/plan";
import { choose } from "./choose";
import { gpusAllowed } from "./constrainedDeployment";
import type { Explorer } from "./explore";

/**
 * Which excluded models and asked shapes keep every plan out, where without any of them there would be one: those of the models that
 * would be used. null where it is not for them.
 *
 * @param explorer of the same situation with no model excluded and no shape asked.
 */
export function narrowingConflict(
  explorer: Explorer,
  asked: { readonly cluster: ClusterSpec; readonly objective: Objective; readonly constraints: PlanConstraints },
): readonly ConflictingConstraint[] | null {
  const { cluster, objective, constraints } = asked;
  explorer.search();
  explorer.focus({ floor: objective.qualityFloor, budgetSeconds: objective.latencyBudgetSeconds });
  const exploration = explorer.exploration();
  const { chosen } = choose(exploration, { ...objective, maxGpus: gpusAllowed(cluster, constraints, objective.maxGpus) });
  if (chosen === null) return null;
  const used = exploration.routings[chosen.routing]?.stages.map((model) => exploration.models[model]) ?? [];
  const narrowing = constraintsOf({ constraints, objective: { kind: "latency" } }).filter(
    ({ kind, model }) => (kind === "excluded" || kind === "shapes") && model !== null && used.includes(model),
  );
  if (narrowing.length === 0) return null;
  return narrowing.map(({ kind, model, says }) => ({
    kind,
    model,
    says,
    nearest: null,
    needs: "without it all that is asked can be kept",
  }));
}

/** The conflict as one sentence. */
export const conflictText = (conflict: readonly ConflictingConstraint[]): string =>
  `It is for the constraints: ${conflict.map(({ says, needs }) => `${says} (${needs})`).join("; ")}.`;
