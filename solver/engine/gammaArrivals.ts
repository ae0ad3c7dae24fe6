import { mixSeed, type Random, seededRandom } from "@/solver/numeric/random";

/**
 * Shape of the Gamma law fitted by maximum likelihood to the 19,365 gaps of the Azure LLM inference trace of conversations
 * (November 2023): 0.862, a little burstier than Poisson (1). Counts of 1 s have a variance 1.39 times their mean there; the fit
 * gives 1.15, because the trace's rate also drifts over its hour, which a renewal process leaves out. The trace of
 * code completion is far burstier (0.23).
 */
export const AZURE_CONVERSATION_SHAPE = 0.862;

export interface GammaArrivals {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** 1 is Poisson, below it bursty, above it regular. */
  readonly shape: number;
  readonly seed: number;
}

/** Arrivals whose gaps are independent Gamma draws. Returns seconds since the first arrival, ascending. */
export function gammaArrivals({ requests, requestsPerSecond, shape, seed }: GammaArrivals): Float64Array {
  const random = seededRandom(mixSeed(seed, "arrivals"));
  const gapScale = 1 / (requestsPerSecond * shape);
  const arrivals = new Float64Array(requests);
  for (let at = 1; at < requests; at++) arrivals[at] = (arrivals[at - 1] ?? 0) + gapScale * gammaDraw(shape, random);
  return arrivals;
}

/** One draw of the Gamma law with scale 1: Marsaglia and Tsang (2000), with their boost for shapes below 1. */
export function gammaDraw(shape: number, random: Random): number {
  if (shape < 1) return gammaDraw(shape + 1, random) * (1 - random.next()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const normal = random.normal();
    const cube = (1 + c * normal) ** 3;
    if (cube <= 0) continue;
    // 1 - next() is in (0, 1], so that its logarithm is finite.
    const accepted = Math.log(1 - random.next()) < (normal * normal) / 2 + d - d * cube + d * Math.log(cube);
    if (accepted) return d * cube;
  }
}
