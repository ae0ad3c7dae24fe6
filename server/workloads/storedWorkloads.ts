import type { WorkloadLineage } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import type { Workload } from "@/solver/workload/workload";
import { type PackedWorkload, packWorkload } from "./packWorkload";
import { decodeWorkload } from "./workloadCodec";

/**
 * Puts a workload into the store under the hash of its content, so that a plan names exactly what it was made from.
 * Returns its id; a workload that is already stored stays as it is.
 */
export function storeWorkload(
  store: Store,
  workload: Workload,
  { parentId = null, profileId = null }: Partial<WorkloadLineage> = {},
): string {
  return storePacked(store, packWorkload(workload), { parentId, profileId });
}

/** Stores a workload that was packed elsewhere, as in a worker thread. Returns its id. */
export function storePacked(store: Store, { id, described, data }: PackedWorkload, lineage: Omit<WorkloadLineage, "version">): string {
  if (store.workloads.summary(id) === null)
    store.workloads.insert({ id, createdAt: new Date().toISOString(), ...described, ...lineage }, Buffer.from(data));
  return id;
}

/** Reads the whole workload of an id; null if there is none. */
export function loadWorkload(store: Store, id: string): Workload | null {
  const data = store.workloads.data(id);
  return data === null ? null : decodeWorkload(data);
}
