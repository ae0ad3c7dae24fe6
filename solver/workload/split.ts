import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { shuffled } from "@/solver/numeric/shuffled";

/** Share of the prompts in the planning part. The rest is fresh traffic: held-out checks and emulated engines replay it. */
const PLANNING_SHARE = 0.7;

/** The two disjoint parts of a table's prompts, as ascending row indices. */
export interface PromptSplit {
  readonly planning: Int32Array;
  readonly heldOut: Int32Array;
}

/**
 * Splits prompts at random into 70 % for planning and 30 % held out. Depends on the count and the seed only, so every
 * process that holds the workload finds the same split.
 *
 * @throws RangeError below two prompts: both parts need one.
 */
export function splitPrompts(promptCount: number, seed: number): PromptSplit {
  if (!(promptCount >= 2))
    throw new RangeError(`A split into planning and held-out prompts needs at least 2 prompts, found ${promptCount}`);
  const order = shuffled(promptCount, seededRandom(mixSeed(seed, "split")));
  const planningCount = Math.min(promptCount - 1, Math.round(promptCount * PLANNING_SHARE));
  return { planning: order.slice(0, planningCount).sort(), heldOut: order.slice(planningCount).sort() };
}
