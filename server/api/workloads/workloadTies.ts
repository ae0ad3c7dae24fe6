import type { WorkloadName, WorkloadSummary, WorkloadTies } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";

/** What a workload came from and what rests on it; null: no such workload. */
export function workloadTies(store: Store, id: string): WorkloadTies | null {
  const summary = store.workloads.summary(id);
  if (summary === null) return null;
  const measured = summary.profileId === null ? null : store.workloads.measuredBy(summary.profileId);
  const parent = summary.parentId === null ? null : store.workloads.summary(summary.parentId);
  const clusters = new Map(store.clusters.list().map((cluster) => [cluster.id, cluster]));
  return {
    job: measured?.job ?? null,
    promptSet: measured?.promptSet ?? null,
    parent: parent === null ? null : named(parent),
    children: store.workloads.children(id).map(named),
    plans: store.plans.ofWorkload(id).map((plan) => {
      const cluster = clusters.get(plan.clusterId);
      return { ...plan, clusterName: cluster?.spec.name ?? plan.clusterId, inForce: cluster?.runningPlanId === plan.id };
    }),
  };
}

const named = ({ id, name, version }: WorkloadSummary): WorkloadName => ({ id, name, version });
