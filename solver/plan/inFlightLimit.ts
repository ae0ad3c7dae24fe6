import { MAX_SEQUENCES } from "../hardware/replicaShapes";
import type { ModelDeployment } from "./plan";

/**
 * Requests that one replica of a group may hold at once. A model on several GPU types has replicas of different speed: theirs are in
 * proportion to the shares of the load they are planned with, so that the least loaded relative to it takes just that share and all have
 * the same latency.
 */
export function inFlightLimit(
  groups: readonly Pick<ModelDeployment["replicas"][number], "gpu" | "shareEach">[],
  { shareEach }: Pick<ModelDeployment["replicas"][number], "shareEach">,
): number {
  if (new Set(groups.map(({ gpu }) => gpu)).size < 2) return MAX_SEQUENCES;
  const largest = Math.max(...groups.map((group) => group.shareEach));
  return Math.max(1, Math.round((MAX_SEQUENCES * shareEach) / largest));
}
