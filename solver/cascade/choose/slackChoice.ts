import type { Candidate, Exploration, Knobs } from "../explore/exploration";
import { onFewestGpus } from "./onFewestGpus";

/**
 * Whether a slack changes the choice. For the lowest cost it always does: the latency stays near that of the fastest plan. For the lowest
 * latency it does above zero. The highest quality within a budget has no use for one.
 */
export function slackApplies({ kind, slack }: Pick<Knobs, "kind" | "slack">): boolean {
  if (slack === undefined) return false;
  return kind === "cost-under-both" || (kind === "latency-under-quality" && slack > 0);
}

/**
 * Seconds that a slack allows: the latency of the fastest plan and the slack's fraction of it more, at most the budget.
 *
 * @param fastestSeconds of the fastest plan here; the knobs may name that of another kind of policy.
 */
export function slackLimit(
  fastestSeconds: number,
  {
    slack = 0,
    slackFromSeconds = fastestSeconds,
    latencyBudgetSeconds,
  }: Pick<Knobs, "slack" | "slackFromSeconds" | "latencyBudgetSeconds">,
): number {
  return Math.min((1 + slack) * slackFromSeconds, latencyBudgetSeconds ?? Number.MAX_VALUE);
}

/** What is sought within the latency that a slack allows: the highest quality, or the lowest cost where that is the objective. */
export const kindWithinSlack = ({ kind }: Pick<Knobs, "kind">): Knobs["kind"] =>
  kind === "latency-under-quality" ? "quality-under-latency" : kind;

/**
 * The candidate of the highest promised quality, on the fewest GPUs that keep the latency limit; of equal quality the one of the lowest
 * cost on such GPUs, then the fastest.
 *
 * @param within candidates on all GPUs that keep floor and limit.
 * @param limit `latencyBudgetSeconds` is the latency limit.
 * @returns null where there is no candidate.
 */
export function highestQuality(
  exploration: Exploration,
  within: readonly Candidate[],
  { limit, quality }: { readonly limit: Pick<Knobs, "latency" | "latencyBudgetSeconds">; quality(candidate: Candidate): number },
): Candidate | null {
  const highest = within.reduce((most, candidate) => Math.max(most, quality(candidate)), Number.NEGATIVE_INFINITY);
  let found: Candidate | null = null;
  for (const candidate of within) {
    if (quality(candidate) < highest) continue;
    const fewest = onFewestGpus(exploration, candidate, limit);
    const saves = found === null ? 1 : found.costUsdPerRequest - fewest.costUsdPerRequest;
    if (found === null || saves > 0 || (saves === 0 && fewest.latencySeconds < found.latencySeconds)) found = fewest;
  }
  return found;
}

/** Per list of candidates, the last one that was replaced in it. */
const kept = new WeakMap<readonly Candidate[], { readonly chosen: Candidate; readonly candidates: readonly Candidate[] }>();

/**
 * Candidates with the chosen one, on its own GPUs, in the place of its routing. The same lists are returned for the same choice, so that
 * figures are not drawn again while a knob moves without an effect.
 */
export function withChosen(candidates: readonly Candidate[], chosen: Candidate): readonly Candidate[] {
  if (candidates[chosen.routing] === chosen) return candidates;
  const known = kept.get(candidates);
  if (known?.chosen === chosen) return known.candidates;
  const replaced = candidates.with(chosen.routing, chosen);
  kept.set(candidates, { chosen, candidates: replaced });
  return replaced;
}
