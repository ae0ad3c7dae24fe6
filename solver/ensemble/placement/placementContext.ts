import type { PlacedExpert, PlacementProblem, Schedule } from "./placement";
import { replicaCap } from "./replicaCap";

/** An expert with prompts, with the data for the search of its placement. */
export interface AskedExpert {
  /** Index into the problem's experts. */
  readonly expert: number;
  readonly prompts: number;
  readonly loadSeconds: number;
  /** Maximum number of its workers. */
  readonly cap: number;
  /** Seconds of a session's answers; 0 for none. */
  cost(prompts: number): number;
  /** Maximum number of its prompts that a session answers within so many seconds after its load; none in negative time. */
  most(seconds: number): number;
  /** Least seconds per prompt of any session of at most so many prompts; at least one. */
  leastPerPrompt(prompts: number): number;
}

/** A placement's experts and limits, for one kind of cost. */
export interface PlacementContext {
  readonly experts: readonly AskedExpert[];
  readonly workers: number;
  /** K, no larger than the number of experts. */
  readonly sessionsPerWorker: number;
}

/** Relative error allowed in seconds from sums of floating-point times. */
export const TIME_TOLERANCE = 1e-9;

/** Drops experts without prompts. Costs are linear per prompt, tau_m = G_m(R_m) / R_m, as in the ILP (equation 3). */
export function linearContext(problem: PlacementProblem): PlacementContext {
  return groundOf(problem, (expert) => {
    const secondsPerPrompt = promptSeconds(expert);
    const { prompts } = expert;
    return {
      cost: (count) => secondsPerPrompt * count,
      leastPerPrompt: () => secondsPerPrompt,
      most: (seconds) => {
        if (seconds < 0) return 0;
        if (secondsPerPrompt === 0) return prompts;
        return Math.min(prompts, Math.floor((seconds / secondsPerPrompt) * (1 + TIME_TOLERANCE)));
      },
    };
  });
}

/** tau_m (equation 3). */
export const promptSeconds = ({ prompts, cost }: PlacedExpert): number => cost(prompts) / prompts;

/** The problem's own session costs, each computed once per count of prompts. */
export function timedContext(problem: PlacementProblem): PlacementContext {
  return groundOf(problem, ({ prompts, cost }) => {
    const known = new Map<number, number>([[0, 0]]);
    const costOf = (count: number): number => {
      const before = known.get(count);
      if (before !== undefined) return before;
      const seconds = cost(count);
      known.set(count, seconds);
      return seconds;
    };
    let least: Float64Array | null = null;
    return {
      cost: costOf,
      most: (seconds) => (seconds < 0 ? 0 : mostWithin(costOf, prompts, seconds * (1 + TIME_TOLERANCE))),
      leastPerPrompt: (count) => {
        least ??= leastPerPromptUpTo(cost, prompts);
        return least[count - 1] ?? 0;
      },
    };
  });
}

/** By count of prompts from 1, the least seconds per prompt of any session up to it. */
function leastPerPromptUpTo(cost: (count: number) => number, prompts: number): Float64Array {
  const least = new Float64Array(prompts);
  let before = Number.POSITIVE_INFINITY;
  for (let count = 1; count <= prompts; count += 1) {
    before = Math.min(before, cost(count) / count);
    least[count - 1] = before;
  }
  return least;
}

/** The largest count up to `prompts` with a cost of at most so many seconds, by bisection. */
function mostWithin(cost: (count: number) => number, prompts: number, seconds: number): number {
  if (cost(prompts) <= seconds) return prompts;
  let fits = 0;
  let fails = prompts;
  while (fails - fits > 1) {
    const middle = Math.floor((fits + fails) / 2);
    if (cost(middle) <= seconds) fits = middle;
    else fails = middle;
  }
  return fits;
}

function groundOf(
  problem: PlacementProblem,
  costOf: (expert: PlacedExpert) => Pick<AskedExpert, "cost" | "most" | "leastPerPrompt">,
): PlacementContext {
  const { workers, maxModelsPerWorker, replicas } = problem;
  const experts = problem.experts.flatMap((each, expert) => {
    if (each.prompts === 0) return [];
    const { prompts, loadSeconds } = each;
    return [{ expert, prompts, loadSeconds, cap: replicaCap(each, workers, replicas), ...costOf(each) }];
  });
  return { experts, workers, sessionsPerWorker: Math.min(maxModelsPerWorker, experts.length) };
}

/** Whether a schedule without a barrier keeps K and the caps of replicas; sessions without prompts do not count here. */
export function keepsLimits({ experts, sessionsPerWorker }: PlacementContext, { workers, barrier }: Schedule): boolean {
  if (barrier || workers.some((sessions) => sessions.filter(({ prompts }) => prompts > 0).length > sessionsPerWorker)) return false;
  return experts.every(
    ({ expert, cap }) => workers.filter((sessions) => sessions.some((each) => each.expert === expert && each.prompts > 0)).length <= cap,
  );
}
