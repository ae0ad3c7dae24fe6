import type { SolveAnswer } from "@/server/contracts/studio";

type PlanAnswer = Exclude<SolveAnswer, { outcome: "infeasible" }>;

/** Factor between the rates of the first bracket. */
const STEP = 1.3;

/** Most steps on either side: a factor of 67. */
const MOST_STEPS = 16;

/** Precision of the rate, as a factor: about the error of a plan's load. */
const TOLERANCE = 1.02;

/**
 * The plan for the highest rate that keeps an objective's floor and budget on its GPUs (the throughput of Cascadia, section 4.1: the highest
 * rate at a deadline). Every rate is planned anew: steps of a factor of 1.3 from the first one until one has a plan and the next has none, then
 * bisection to 2 %. On the assumption that a rate without a plan means none above it.
 *
 * @param solve plans at a rate, requests a second.
 * @param from the first rate, above 0.
 * @returns the plan, or the answer at the first rate where no lower rate has one either, or where the request itself is malformed.
 */
export async function highestPlannedRate(solve: (requestsPerSecond: number) => Promise<SolveAnswer>, from: number): Promise<SolveAnswer> {
  const first = await solve(from);
  // Another rate mends no request that names what does not exist. Any other reason may be the load, also that of a floor out of reach.
  if (first.outcome === "infeasible" && first.kind === "malformed") return first;
  const rising = first.outcome !== "infeasible";
  let [low, high] = [from, from];
  let best: PlanAnswer | null = first.outcome === "infeasible" ? null : first;
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const next = rising ? low * STEP : high / STEP;
    const answer = await solve(next);
    if (answer.outcome === "infeasible") high = next;
    else [low, best] = [next, answer];
    if ((answer.outcome === "infeasible") === rising) break;
  }
  if (best === null) return first;
  while (high > low * TOLERANCE) {
    const middle = Math.sqrt(low * high);
    const answer = await solve(middle);
    if (answer.outcome === "infeasible") high = middle;
    else [low, best] = [middle, answer];
  }
  return best;
}
