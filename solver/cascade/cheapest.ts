import { allocate, costUsdPerRequest } from "./choose";
import type { Candidate, Exploration, Knobs } from "./exploration";

/** What the cheapest plan must keep; null: not asked. */
export type CheapestKnobs = Pick<Knobs, "latency" | "qualityFloor" | "qualityConfidence" | "latencyBudgetSeconds" | "maxGpus">;

/**
 * The plan of lowest cost per request with quality at the floor or above and latency within the budget; among equals the
 * faster. Every routing of the exploration gets the fewest GPUs that keep the budget; fewer than `maxGpus` may be used.
 * Without a budget a routing gets the fewest GPUs that keep up with its load. Null when no routing keeps both.
 */
export function cheapest(exploration: Exploration, knobs: CheapestKnobs): Candidate | null {
  const most = Math.min(knobs.maxGpus, exploration.maxGpus);
  let found: Candidate | null = null;
  for (const [routing, { share, quality: point, qualityLow }] of exploration.routings.entries()) {
    if ((knobs.qualityConfidence === null ? point : qualityLow) < (knobs.qualityFloor ?? 0)) continue;
    // More GPUs than the best so far pays for cannot win: one look at those settles most routings.
    const maxGpus: number = found === null ? most : Math.min(most, gpusFor(exploration, share, found.costUsdPerRequest));
    const own = maxGpus < 1 ? null : onFewestGpus(exploration, routing, { ...knobs, maxGpus });
    if (own === null) continue;
    const dearer: number = found === null ? -1 : own.costUsdPerRequest - found.costUsdPerRequest;
    if (dearer < 0 || (dearer === 0 && own.latencySeconds < (found?.latencySeconds ?? 0))) found = own;
  }
  return found;
}

/** GPUs that a cost per request pays for, the judge calls paid first. */
function gpusFor(exploration: Exploration, share: readonly number[], usdPerRequest: number): number {
  const judging = costUsdPerRequest({ ...exploration, gpus: 0, share });
  const perGpu = costUsdPerRequest({ ...exploration, gpus: 1, share }) - judging;
  return perGpu > 0 ? Math.floor((usdPerRequest - judging) / perGpu + 1e-9) : Number.POSITIVE_INFINITY;
}

/** A routing on the fewest GPUs that keep the budget, by bisection: latency does not rise with GPUs. Null where none do. */
function onFewestGpus(exploration: Exploration, routing: number, knobs: CheapestKnobs): Candidate | null {
  const budget = knobs.latencyBudgetSeconds ?? Number.MAX_VALUE;
  const on = (gpus: number): Candidate => allocate(exploration, routing, { gpus, latency: knobs.latency });
  let high = knobs.maxGpus;
  let found = on(high);
  if (found.latencySeconds > budget) return null;
  let low = 0;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    const tried = on(middle);
    if (tried.latencySeconds <= budget) {
      high = middle;
      found = tried;
    } else low = middle;
  }
  return found;
}
