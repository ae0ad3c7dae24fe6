import { engineId } from "@/server/clusters/steps/targetEngines";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
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

/** Nodes and GPU type of a cluster of endpoints: one node each, with as many GPUs as its engine has; the first one's type is the cluster's. */
export function endpointNodes({ endpoints }: Pick<EndpointConnection, "endpoints">) {
  const gpu = endpoints[0]?.gpu ?? "";
  const nodes = endpoints.map((one) => ({ name: one.name, gpus: one.tp * one.pp, ...(one.gpu === gpu ? {} : { gpu: one.gpu }) }));
  return { gpu, nodes };
}
