import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { isEngineId } from "./engineRecords";
import type { HostGpus } from "./hostGpus";
import type { Neighbour } from "./neighbours";
import type { ProcessConnection } from "./processConnection";

/** The known state of a host for the start of an engine. */
export interface HostState {
  readonly node: string;
  readonly gpus: HostGpus;
  /** Weir's own engines there. */
  readonly engines: readonly EngineOrder[];
  /** The operator's servers, whether they answer or not. */
  readonly adopted: ProcessConnection["adopt"];
  /** Engines of other clusters of this studio. */
  readonly neighbours: readonly Neighbour[];
}

/** Why an engine cannot be started on a host, in a sentence; null if it can. */
export function startRefusal(order: EngineOrder, { node, gpus, engines, ...others }: HostState): string | null {
  if (!isEngineId(order.id)) return `"${order.id}" cannot be the name of an engine.`;
  const elsewhere = order.placements.find((placement) => placement.node !== node);
  if (elsewhere !== undefined) return `${order.id} is to run on ${elsewhere.node}; processes are started on this host alone, ${node}.`;
  if (order.gpu !== gpus.card) return `${order.id} wants ${order.gpu}; ${node} has ${gpus.card}.`;
  for (const gpu of indicesOf(order)) {
    const place = `GPU ${gpu} of ${node}`;
    if (gpu >= gpus.count) return `${order.id} wants ${place}, which has ${gpus.count}.`;
    const holder = engines.find((engine) => engine.id !== order.id && indicesOf(engine).includes(gpu));
    if (holder !== undefined) return `${place} is held by ${holder.id}.`;
    const held = heldGpus({ gpus, engines, ...others }).find((one) => one.gpu === gpu);
    if (held !== undefined) return `${place} ${held.by}.`;
  }
  return null;
}

/** GPUs that processes other than Weir's use, each with its user. */
export function heldGpus({
  gpus,
  engines,
  adopted,
  neighbours,
}: Omit<HostState, "node">): readonly { readonly gpu: number; readonly by: string }[] {
  const own = new Set(engines.flatMap(indicesOf));
  const byServers = adopted.flatMap((server) =>
    server.gpus.map((gpu) => ({ gpu, by: `is held by the server at ${server.url}, which its operator started` })),
  );
  // Cores and GPUs of one host are numbered apart.
  const alike = neighbours.filter((engine) => engine.gpu === gpus.card);
  const byNeighbours = alike.flatMap((engine) =>
    indicesOf(engine).map((gpu) => ({
      gpu,
      by: `is held by ${engine.id} of another cluster of this studio, ${engine.clusterId}: attach that one again by its name to stop it`,
    })),
  );
  const byOthers = gpus.uses.map(({ gpu, pid, program }) => ({
    gpu,
    by: `is in use by process ${pid} (${program}), which Weir did not start`,
  }));
  const held = [...byServers, ...byNeighbours, ...byOthers].filter(({ gpu }) => !own.has(gpu));
  return held.filter(({ gpu }, index) => held.findIndex((one) => one.gpu === gpu) === index);
}

/** The GPUs of an engine on one host. */
export const indicesOf = (engine: Pick<EngineOrder, "placements">): readonly number[] => engine.placements.flatMap(({ gpus }) => gpus);
