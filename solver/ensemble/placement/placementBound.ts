import { type PlacementContext, TIME_TOLERANCE } from "./placementContext";

const HALVINGS = 60;

/**
 * The minimum number of sessions of an expert such that no worker is busy longer than so many seconds; Infinity where its cap allows no
 * such split.
 */
export function fewestSessions({ prompts, loadSeconds, cap, most }: PlacementContext["experts"][number], seconds: number): number {
  const share = most(seconds - loadSeconds);
  const sessions = share > 0 ? Math.ceil(prompts / share) : Number.POSITIVE_INFINITY;
  return sessions <= cap ? sessions : Number.POSITIVE_INFINITY;
}

/**
 * Lower bound in seconds of any placement with a context's costs: the smallest makespan at which every expert's sessions fit its cap, all
 * sessions fit K on each worker, and all loads and answers fit the workers' time. No session has more prompts than end within the makespan,
 * and each prompt takes at least what it does in the best session of that size, so that small shards' losses count.
 */
export function combinatorialBound(context: PlacementContext): number {
  const { experts, workers, sessionsPerWorker } = context;
  const fits = (seconds: number): boolean => {
    let sessions = 0;
    let workSeconds = 0;
    for (const expert of experts) {
      const needed = fewestSessions(expert, seconds * (1 + TIME_TOLERANCE));
      sessions += needed;
      if (!Number.isFinite(needed)) return false;
      const share = Math.max(1, expert.most(seconds * (1 + TIME_TOLERANCE) - expert.loadSeconds));
      workSeconds += needed * expert.loadSeconds + expert.prompts * expert.leastPerPrompt(share);
    }
    return sessions <= workers * sessionsPerWorker && workSeconds <= workers * seconds * (1 + TIME_TOLERANCE);
  };
  let fails = 0;
  let holds = experts.reduce((sum, { loadSeconds, cost, prompts }) => sum + loadSeconds + cost(prompts), 0);
  if (fits(0)) return 0;
  for (let halving = 0; halving < HALVINGS && holds - fails > TIME_TOLERANCE * holds; halving += 1) {
    const middle = (fails + holds) / 2;
    if (fits(middle)) holds = middle;
    else fails = middle;
  }
  return fails;
}
