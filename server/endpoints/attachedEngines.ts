import { engineId } from "@/server/clusters/steps/targetEngines";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { addressFault, oneAddress } from "../engineClient/address";
import type { Endpoint, EndpointConnection } from "./connection";

/** An endpoint as an engine of a cluster. */
export interface AttachedEngine extends EngineOrder {
  readonly endpoint: Endpoint;
}

/** Every endpoint under the id that a plan gives an engine of its model and shape on all GPUs of a node of its name. */
export function attachedEngines({ endpoints }: Pick<EndpointConnection, "endpoints">): readonly AttachedEngine[] {
  return endpoints.map((endpoint) => {
    const { name, model, precision, gpu, tp, pp } = endpoint;
    const placements = [{ node: name, gpus: Array.from({ length: tp * pp }, (_, index) => index) }];
    return { id: engineId({ model, precision }, { tp, pp }, placements), model, precision, gpu, tp, pp, placements, endpoint };
  });
}

/**
 * Nodes and GPU type of a cluster of endpoints: one node each, with as many GPUs as its engine has; the first one's type is the cluster's.
 * The node of an adapter names the node of its engine.
 */
export function endpointNodes({ endpoints }: Pick<EndpointConnection, "endpoints">) {
  const gpu = endpoints[0]?.gpu ?? "";
  const nodes = endpoints.map((one) => ({
    name: one.name,
    gpus: one.tp * one.pp,
    ...(one.gpu === gpu ? {} : { gpu: one.gpu }),
    ...engineOf(one, endpoints),
  }));
  return { gpu, nodes };
}

/** For an adapter: the endpoint of its parent at the same address, or the first adapter of that parent there; nothing for that one. */
function engineOf(one: Endpoint, all: readonly Endpoint[]): { readonly engineOf?: string } {
  if (one.adapterOf === undefined) return {};
  const there = all.filter(({ url }) => placeOf(url) === placeOf(one.url));
  const host = there.find(({ model, adapterOf }) => adapterOf === undefined && model === one.adapterOf);
  const name = (host ?? there.find(({ adapterOf }) => adapterOf === one.adapterOf))?.name;
  return name === undefined || name === one.name ? {} : { engineOf: name };
}

const placeOf = (url: string): string => (addressFault(url) === null ? oneAddress(url) : url);
