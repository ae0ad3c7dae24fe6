import type { Target } from "@/server/telemetry/engineTarget";
import { attachedEngines } from "./attachedEngines";
import type { EndpointConnection } from "./connection";

/** The endpoints as telemetry watches them, each with what lets one in. */
export function endpointTargets(connection: Pick<EndpointConnection, "endpoints">): readonly Target[] {
  return attachedEngines(connection).map(({ id, model, placements, endpoint: { url, key, caFile } }) => ({
    ...{ id, model, url },
    gpus: placements.flatMap(({ node, gpus }) => gpus.map((index) => ({ node, index }))),
    ...((key !== undefined || caFile !== undefined) && { access: { key, caFile } }),
  }));
}
