import { allocate, stageTables } from "./choose";
import type { Candidate, Exploration, Knobs } from "./exploration";

/** Shares of the GPUs at hand that every routing is also put on. Finer ones would be drawn on top of one another. */
const GPU_SHARES = [1 / 8, 1 / 4, 3 / 8, 1 / 2, 5 / 8, 3 / 4, 7 / 8] as const;

const kept = new WeakMap<Exploration, Map<string, readonly Candidate[]>>();

/**
 * Every routing at its best allocation of fewer GPUs than the knobs allow, so that plans differ in cost: the fewest that keep up and
 * some shares of all. Allocations that do not keep up or that repeat are left out. Kept, since only GPU count and latency
 * objective change it.
 */
export function costCandidates(exploration: Exploration, { maxGpus, latency }: Pick<Knobs, "maxGpus" | "latency">): readonly Candidate[] {
  const own = kept.get(exploration) ?? new Map<string, readonly Candidate[]>();
  kept.set(exploration, own);
  const most = Math.min(maxGpus, exploration.maxGpus);
  const key = `${latency} ${most}`;
  const known = own.get(key);
  if (known !== undefined) return known;
  const shares = GPU_SHARES.map((share) => Math.floor(share * most));
  const fresh = exploration.routings.flatMap((_, routing) => {
    const fewest = fewestGpus(stageTables(exploration, routing));
    const counts = new Set([fewest, ...shares].filter((gpus) => gpus >= fewest && gpus < most));
    const found = new Map<number, Candidate>();
    for (const gpus of counts) {
      const candidate = allocate(exploration, routing, { gpus, latency });
      if (Number.isFinite(candidate.latencySeconds)) found.set(candidate.gpusTotal, candidate);
    }
    return [...found.values()];
  });
  own.set(key, fresh);
  return fresh;
}

/** GPUs below which some stage does not keep up; infinite where none are enough. */
function fewestGpus(tables: readonly Float32Array[]): number {
  return tables.reduce((sum, table) => {
    const first = table.findIndex((seconds) => Number.isFinite(seconds));
    return sum + (first === -1 ? Number.POSITIVE_INFINITY : first + 1);
  }, 0);
}
