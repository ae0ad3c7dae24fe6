import type { Store } from "@/server/store/store";

/** A plan's name with the start of its id, for sentences. */
export function planWords(store: Pick<Store, "plans">, planId: string | null): string {
  if (planId === null) return "no plan";
  const name = store.plans.get(planId)?.metadata.name;
  return name === undefined ? `plan ${planId.slice(0, 8)}` : `${name} (${planId.slice(0, 8)})`;
}

/** Why a plan may not be put into force on a cluster, in a sentence with the way out; null: it is approved there as both are now. */
export function approvalRefusal(store: Pick<Store, "plans" | "approvals">, planId: string, clusterId: string): string | null {
  const words = planWords(store, planId);
  switch (store.approvals.standingOn(planId, clusterId)) {
    case "valid":
      return null;
    case "earlier-rule":
      return `${words} was approved under the old rule, which covered neither its figures nor how engines are started: approve it again.`;
    case "changed":
      return `The cluster's connection, which says how engines are started, has changed since ${words} was approved: approve it again.`;
    case null:
      return `${words} is not approved on this cluster: approve it.`;
  }
}
