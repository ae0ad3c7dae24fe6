import { planWords } from "@/server/clusters/apply/approvalRefusal";
import type { Store } from "@/server/store/store";

/**
 * Why a predictor is still needed, in one sentence with the remedy; null if it is named by no plan that is in force, being rolled out,
 * under verification, scheduled, or approved since the plan in force came into force.
 */
export function removalRefusal(store: Store, hash: string): string | null {
  const naming = new Set(store.plans.withPredictors().flatMap(({ id, predictors }) => (predictors.includes(hash) ? [id] : [])));
  if (naming.size === 0) return null;
  const clusters = store.clusters.list();
  const nameOf = (clusterId: string): string => clusters.find(({ id }) => id === clusterId)?.spec.name ?? clusterId;

  const inForce = clusters.filter(({ runningPlanId }) => naming.has(runningPlanId ?? ""));
  if (inForce.length > 0)
    return `The plan in force on ${inForce.map(({ spec }) => spec.name).join(", ")} names this predictor: put another plan into force first.`;

  for (const { clusterId, planId, previousPlanId } of [...store.applications.open(), ...store.applications.verifying()])
    if (naming.has(planId ?? "") || naming.has(previousPlanId ?? ""))
      return `A roll-out on ${nameOf(clusterId)} may need this predictor, on its way or back: wait until it has ended and was held against its promises.`;

  for (const { clusterId, schedule } of store.schedules.list()) {
    const entry = schedule.entries.find(({ planId }) => naming.has(planId));
    if (entry !== undefined)
      return `The schedule of ${nameOf(clusterId)} has ${planWords(store, entry.planId)}, which names this predictor, at ${entry.at}: set the schedule without it first.`;
  }

  for (const planId of naming)
    for (const { clusterId, at } of store.approvals.ofPlan(planId)) {
      const cluster = clusters.find(({ id }) => id === clusterId);
      if (cluster === undefined || cluster.spec.kind === "described") continue;
      const since = cluster.runningSince ?? store.applications.list(clusterId).find(({ state }) => state === "done")?.endedAt ?? "";
      if (at > since)
        return `${planWords(store, planId)} is approved on ${cluster.spec.name} and names this predictor: put another plan into force there first.`;
    }
  return null;
}
