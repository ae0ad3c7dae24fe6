import { storeWorkload } from "@/server/api/workloadService";
import type { ClusterSummary } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import { generatedWorkload } from "@/solver/workload/generated";

/** Enough that the planning part gives a quality bound of about a point, and the table stays below a megabyte. */
const prompts = 3_000;
const seed = 7;

/**
 * On two nodes of four L40S this is more than the largest model of the generated ladder carries well alone, so that a cascade
 * earns its place, and little enough for two CPU cores to emulate in real time (measured: 0.2 of a core for all processes; the first stage then runs at four fifths of saturation).
 */
const suggestedTraffic = { requestsPerSecond: 54, qualityFloor: 60 };

/**
 * Gives a store without workloads the generated one, so that a newcomer can plan before having a table. Returns what to plan
 * with on the embedded cluster.
 */
export function seedStore(store: Store): ClusterSummary["suggested"] {
  const known = store.workloads.list().find((workload) => workload.generated);
  if (known === undefined && store.workloads.list().length > 0) return null;
  const workloadId = known?.id ?? storeWorkload(store, generatedWorkload({ prompts, seed }));
  return { workloadId, ...suggestedTraffic };
}
