import { quantileOfSorted } from "@/solver/numeric/quantile";
import { seededRandom } from "@/solver/numeric/random";
import type { Routed } from "./routing";

/** Both ends of an interval, in the unit of its figure. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The variation of a routing's figures over other samples of the same size. */
export interface RoutedIntervals {
  /** Interval of the mean label of accepted answers, 0..100. */
  readonly quality: Interval;
  /** Interval of the share of requests that reach each stage, 0..1: the source's processing ratios. */
  readonly share: readonly Interval[];
}

/** Number of bootstrap samples; the ends of a 90 % interval then repeat to about a twentieth of its width. */
const RESAMPLES = 1000;

/**
 * Bootstrap intervals of a routing's quality and processing ratios (percentile method; Efron and Tibshirani, An
 * Introduction to the Bootstrap, 1993, chapter 13): prompts are drawn with replacement, each with its start, its exit and its accepted
 * label. Two-sided and for this one routing: it shows the sample's uncertainty. A plan's guarantee is `qualityLow`, which also allows for
 * the picking among many routings.
 *
 * @param confidence 0.9 leaves 5 % on either side.
 */
export function routedIntervals(
  { start, exit, accepted, share }: Pick<Routed, "start" | "exit" | "accepted" | "share">,
  { confidence, seed }: { readonly confidence: number; readonly seed: number },
): RoutedIntervals {
  const prompts = exit.length;
  const random = seededRandom(seed);
  const quality = new Float64Array(RESAMPLES);
  const reached = share.map(() => new Float64Array(RESAMPLES));
  // Requests at a stage minus those at the stage before it.
  const joined = new Int32Array(share.length + 1);
  for (let resample = 0; resample < RESAMPLES; resample += 1) {
    let sum = 0;
    joined.fill(0);
    for (let draw = 0; draw < prompts; draw += 1) {
      const prompt = random.int(prompts);
      const from = start[prompt] ?? 0;
      const after = (exit[prompt] ?? 0) + 1;
      sum += accepted[prompt] ?? 0;
      joined[from] = (joined[from] ?? 0) + 1;
      joined[after] = (joined[after] ?? 0) - 1;
    }
    quality[resample] = sum / prompts;
    let there = 0;
    for (const [stage, own] of reached.entries()) {
      there += joined[stage] ?? 0;
      own[resample] = there / prompts;
    }
  }
  const interval = (values: Float64Array): Interval => {
    const sorted = values.sort();
    return { low: quantileOfSorted(sorted, (1 - confidence) / 2), high: quantileOfSorted(sorted, (1 + confidence) / 2) };
  };
  return { quality: interval(quality), share: reached.map(interval) };
}
