import type { Candidate, Exploration, Knobs } from "../explore/exploration";
import { allocate, stageTables } from "./allocate";

/**
 * A candidate's routing on the fewest GPUs that meet the latency budget, which is also its lowest cost; a budget of null only requires
 * that the load is sustained. By bisection. Returns the candidate itself where no fewer GPUs suffice.
 *
 * The latency of the largest stage never rises with GPUs, so the count is the least. The end-to-end latency may: more GPUs tighten the limit
 * on the slowest stage (`STARVATION_LIMIT`), which may forbid what is fastest on fewer. Then still fewer GPUs may meet the budget; one GPU
 * fewer does not, and the count is at most that from which on every larger one does.
 */
export function onFewestGpus(
  exploration: Exploration,
  candidate: Candidate,
  { latency, latencyBudgetSeconds }: Pick<Knobs, "latency" | "latencyBudgetSeconds">,
): Candidate {
  const budget = latencyBudgetSeconds ?? Number.MAX_VALUE;
  if (candidate.latencySeconds > budget) return candidate;
  const { routing } = candidate;
  let low = leastGpus(exploration, routing) - 1;
  let found = candidate;
  for (let high = candidate.gpusTotal; high - low > 1; ) {
    // Without a budget the fewest GPUs that sustain the load are enough.
    const middle = latencyBudgetSeconds === null ? low + 1 : (low + high) >> 1;
    const tried = allocatedOn(exploration, routing, { gpus: middle, latency });
    if (tried.latencySeconds <= budget) {
      high = middle;
      found = tried;
    } else low = middle;
  }
  return found;
}

/** Per exploration and latency objective, candidates by routing and GPU count. */
const kept = new WeakMap<Exploration, Map<Knobs["latency"], Map<number, Candidate>>>();

/** `allocate` with a cache: a moving budget requests the same GPU counts repeatedly. */
function allocatedOn(
  exploration: Exploration,
  routing: number,
  on: { readonly gpus: number; readonly latency: Knobs["latency"] },
): Candidate {
  const byLatency = kept.get(exploration) ?? new Map<Knobs["latency"], Map<number, Candidate>>();
  const own = byLatency.get(on.latency) ?? new Map<number, Candidate>();
  kept.set(exploration, byLatency.set(on.latency, own));
  const key = routing * (exploration.maxGpus + 1) + on.gpus;
  const known = own.get(key);
  if (known !== undefined) return known;
  const candidate = allocate(exploration, routing, on);
  own.set(key, candidate);
  return candidate;
}

/** Per exploration, `leastGpus` by routing; 0: not known yet. */
const least = new WeakMap<Exploration, Float64Array>();

/** GPUs below which some stage of a routing does not sustain its load; Infinity where no number of GPUs is enough. */
export function leastGpus(exploration: Exploration, routing: number): number {
  const own = least.get(exploration) ?? new Float64Array(exploration.routings.length);
  least.set(exploration, own);
  const known = own[routing] ?? 0;
  if (known > 0) return known;
  const hosted = exploration.routings[routing]?.hosted?.stages ?? [];
  const counted = stageTables(exploration, routing).reduce((sum, table, row) => {
    const first = table.findIndex((seconds) => seconds < Number.POSITIVE_INFINITY);
    if (first < 0) return Number.POSITIVE_INFINITY;
    return hosted.includes(row) ? sum : sum + first + 1;
  }, 0);
  own[routing] = counted;
  return counted;
}
