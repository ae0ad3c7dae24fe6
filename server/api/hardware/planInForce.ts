import { oneAddress } from "@/server/engineClient/address";
import type { ConnectedCluster } from "@/server/fleet/fleet";

/** A connected cluster, as far as its last observation goes. */
type Watched = Pick<ConnectedCluster, "seen">;

/**
 * Why an engine is in use by one of Weir's own gateways, in a sentence: a plan in force sends requests to it. Null where none does, as far
 * as the clusters' last observations tell.
 *
 * @param url root of the engine's API.
 */
export function planInForce(url: string, clusters: readonly Watched[]): string | null {
  const used = clusters.some((cluster) => {
    const { answer } = cluster.seen();
    if (!answer.ok) return false;
    const { engines, routing } = answer.value;
    return engines.some((engine) => oneAddress(engine.url) === oneAddress(url) && routing.active.includes(engine.id));
  });
  return used
    ? `A plan in force sends requests to ${url}. Measure it when the plan is rolled back, or say that others may be served meanwhile.`
    : null;
}
