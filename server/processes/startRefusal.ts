import type { EngineOrder } from "@/server/contracts/engineOrder";
import type { AdoptedServer } from "./adoptedServers";
import { isEngineId } from "./engineRecords";
import type { HostGpus } from "./hostGpus";

/** What is known of a host when an engine shall be started on it. */
export interface HostState {
  readonly node: string;
  readonly gpus: HostGpus;
  /** What stands of Weir's own. */
  readonly engines: readonly EngineOrder[];
  readonly adopted: readonly AdoptedServer[];
}

/** Why an engine cannot be started on a host, in a sentence; null when it can. */
export function startRefusal(order: EngineOrder, { node, gpus, engines, adopted }: HostState): string | null {
  if (!isEngineId(order.id)) return `"${order.id}" cannot be the name of an engine.`;
  const elsewhere = order.placements.find((placement) => placement.node !== node);
  if (elsewhere !== undefined) return `${order.id} is to run on ${elsewhere.node}; processes are started on this host alone, ${node}.`;
  if (order.gpu !== gpus.card) return `${order.id} wants ${order.gpu}; ${node} has ${gpus.card}.`;
  for (const gpu of indicesOf(order)) {
    const place = `GPU ${gpu} of ${node}`;
    if (gpu >= gpus.count) return `${order.id} wants ${place}, which has ${gpus.count}.`;
    const holder = engines.find((engine) => engine.id !== order.id && indicesOf(engine).includes(gpu));
    if (holder !== undefined) return `${place} is held by ${holder.id}.`;
    const server = adopted.find((engine) => indicesOf(engine).includes(gpu));
    if (server !== undefined) return `${place} is held by the server at ${server.url}, which its operator started.`;
    const use = gpus.uses.find((one) => one.gpu === gpu);
    if (use !== undefined) return `${place} is in use by process ${use.pid} (${use.program}), which Weir did not start.`;
  }
  return null;
}

/** The GPUs of an engine that runs on one host. */
export const indicesOf = (engine: Pick<EngineOrder, "placements">): readonly number[] => engine.placements.flatMap(({ gpus }) => gpus);
