import type { Store } from "@/server/store/store";

const nameOf = (clusterId: string, { clusters }: Pick<Store, "clusters">): string => clusters.get(clusterId)?.spec.name ?? clusterId;

/** The batch that occupies a cluster's free GPUs, running or paused, in a sentence; null: there is none. */
export function claimOfBatch(clusterId: string, store: Pick<Store, "batches" | "clusters">): string | null {
  const batch = store.batches.runningOn(clusterId);
  return batch && `The batch "${batch}" runs on ${nameOf(clusterId, store)}: wait for its end, or stop it.`;
}

/** Why no batch can begin on a cluster now, in a sentence; null if one can. */
export function claimOnCluster(clusterId: string, store: Pick<Store, "batches" | "applications" | "clusters">): string | null {
  if (store.applications.open().some((one) => one.clusterId === clusterId))
    return `A plan is being put into force on ${nameOf(clusterId, store)}: wait for its end, or abort it.`;
  return claimOfBatch(clusterId, store);
}
