import type { Observation, ObservedNode } from "@/server/clusters/connector/connector";
import type { Outcome } from "@/server/contracts/studio";
import type { Placement } from "@/solver/plan/clusterSpec";

/** GPUs that a batch gets: its workers', of one type, each worker's on one node. */
export interface FreeWorkers {
  readonly gpu: string;
  readonly workers: readonly Placement[];
  readonly notes: readonly string[];
}

/** GPUs of workers, by node. */
export function gpusByNode(workers: readonly Placement[]): ReadonlyMap<string, readonly number[]> {
  const byNode = new Map<string, number[]>();
  for (const { node, gpus } of workers) byNode.set(node, [...(byNode.get(node) ?? []), ...gpus]);
  return byNode;
}

type Seen = Pick<Observation, "gpu" | "nodes" | "engines" | "topology">;

const usableOf = ({ nodes, gpu }: Seen): readonly ObservedNode[] =>
  nodes.filter((node) => node.closed == null && (node.gpu ?? gpu) === gpu);

/** All groups of `gpusPerWorker` free GPUs on one node; none if batches cannot load their own engines. */
export const freeGroups = (seen: Seen, gpusPerWorker: number): readonly Placement[] =>
  seen.topology === "given" ? [] : usableOf(seen).flatMap((node) => groups(node.name, freeOf(node, seen.engines), gpusPerWorker));

/**
 * As many of the free groups as are wanted, node by node.
 *
 * @returns a sentence with the free GPUs if they are not sufficient.
 */
export function freeWorkers(observation: Seen, wanted: { readonly workers: number; readonly gpusPerWorker: number }): Outcome<FreeWorkers> {
  const { gpu, nodes, topology } = observation;
  if (topology === "given")
    return {
      ok: false,
      message: "Weir does not start this cluster's engines, so it cannot load a batch here.",
    };
  const workers = freeGroups(observation, wanted.gpusPerWorker);
  const left = nodes.length - usableOf(observation).length;
  const notes =
    left === 0 ? [] : [`${left} ${left === 1 ? "node" : "nodes"} with other GPUs than ${gpu}, or that take no new engine, were left out.`];
  if (workers.length >= wanted.workers) return { ok: true, gpu, workers: workers.slice(0, wanted.workers), notes };
  const fit = workers.length === 0 ? "No worker fits" : workers.length === 1 ? "Only 1 worker fits" : `Only ${workers.length} workers fit`;
  const requested = `${wanted.workers} ${wanted.workers === 1 ? "was" : "were"} requested`;
  return { ok: false, message: `${fit} (${wanted.gpusPerWorker} ${gpu} each, on one node); ${requested}.` };
}

function freeOf(node: ObservedNode, engines: Observation["engines"]): readonly number[] {
  const own = engines.flatMap(({ placements }) => placements.filter((one) => one.node === node.name).flatMap(({ gpus }) => gpus));
  const held = new Set([...own, ...(node.heldGpus ?? []).map(({ gpu }) => gpu)]);
  const free = Array.from({ length: node.gpus }, (_, gpu) => gpu).filter((gpu) => !held.has(gpu));
  // For GPUs used by others perhaps only their number is known.
  return free.slice(0, Math.max(0, node.gpus - own.length - (node.othersGpus ?? 0)));
}

function groups(node: string, free: readonly number[], size: number): readonly Placement[] {
  return Array.from({ length: Math.floor(free.length / size) }, (_, at) => ({ node, gpus: free.slice(at * size, (at + 1) * size) }));
}
