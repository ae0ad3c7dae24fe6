import type { ObservedEngine } from "@/server/clusters/connector/connector";
import type { Target } from "@/server/telemetry/engineTarget";

/** An engine of a cluster as telemetry watches it, with what lets one in. */
export function watchedTarget({ id, model, url, placements, access: { key, caFile } = {} }: ObservedEngine): Target {
  const gpus = placements.flatMap(({ node, gpus }) => gpus.map((index) => ({ node, index })));
  return { id, model, url, gpus, ...((key !== undefined || caFile !== undefined) && { access: { key, caFile } }) };
}
