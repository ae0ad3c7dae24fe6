import { allocate } from "./allocate";
import type { Candidate, Exploration, Knobs } from "./exploration";
import { leastGpus } from "./onFewestGpus";

/** Shares of the cluster's GPUs that every routing is also put on. Finer ones would be drawn on top of one another. */
const GPU_SHARES = [1 / 8, 1 / 4, 1 / 2, 3 / 4] as const;

/** Per exploration, candidates by latency objective and GPU count. */
const kept = new WeakMap<Exploration, Map<string, readonly Candidate[]>>();

/**
 * Every routing at its best allocation of fewer GPUs than the knobs allow, so that plans differ in cost: the fewest that keep up and
 * some shares of the cluster. Allocations that do not keep up or that repeat are left out.
 */
export function costCandidates(exploration: Exploration, { maxGpus, latency }: Pick<Knobs, "maxGpus" | "latency">): readonly Candidate[] {
  const own = kept.get(exploration) ?? new Map<string, readonly Candidate[]>();
  kept.set(exploration, own);
  // By the cluster's GPUs and not by those allowed: a turned GPU knob takes from what is kept.
  const counts = ["fewest", ...new Set(GPU_SHARES.map((share) => Math.floor(share * exploration.maxGpus)))] as const;
  const found = new Map<number, Candidate>();
  for (const count of counts) {
    const key = `${latency} ${count}`;
    const candidates = own.get(key) ?? allocated(exploration, count, latency);
    own.set(key, candidates);
    for (const candidate of candidates)
      if (candidate.gpusTotal < maxGpus) found.set(candidate.routing * exploration.maxGpus + candidate.gpusTotal, candidate);
  }
  return [...found.values()];
}

function allocated(exploration: Exploration, count: number | "fewest", latency: Knobs["latency"]): readonly Candidate[] {
  return exploration.routings
    .map((_, routing) => {
      const gpus = count === "fewest" ? Math.min(leastGpus(exploration, routing), exploration.maxGpus) : count;
      return allocate(exploration, routing, { gpus, latency });
    })
    .filter((candidate) => Number.isFinite(candidate.latencySeconds));
}
