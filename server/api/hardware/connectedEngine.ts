import type { ObservedEngine } from "@/server/clusters/connector/connector";
import { oneAddress } from "@/server/engineClient/address";
import type { ConnectedCluster } from "@/server/fleet/fleet";

/**
 * The engine of a connected cluster at an address, as far as the clusters' last observations tell; null where none has it.
 *
 * @param url root of its API.
 * @param served its own name of the model: an address may serve several.
 */
export function connectedEngine(
  { url, served }: { readonly url: string; readonly served: string },
  clusters: readonly Pick<ConnectedCluster, "seen">[],
): ObservedEngine | null {
  const engines = clusters.flatMap((cluster) => {
    const { answer } = cluster.seen();
    return answer.ok ? answer.value.engines : [];
  });
  const isIt = ({ url: own, model, access }: ObservedEngine): boolean =>
    oneAddress(own) === oneAddress(url) && (access?.servedName ?? model) === served;
  return engines.find(isIt) ?? null;
}
