import type { ReplicaModel } from "../engine/replicaModel";
import { simulateReplica } from "../engine/simulateReplica";
import { quantile } from "../numeric/quantile";
import { atRate } from "./thinning";

/** How the latency percentile of one replica grows with its load, for one mix of requests. */
export interface LoadCurve {
  /** Requests per second, ascending. */
  readonly rates: Float64Array;
  /** Percentile of seconds from arrival at the replica to the last token, non-decreasing. */
  readonly seconds: Float64Array;
}

/** The requests one replica is simulated with, in order of arrival. */
export interface CurveWork {
  readonly inputTokens: Int32Array;
  readonly outputTokens: Int32Array;
  /** Unscaled arrivals of one replica that gets one in `oneIn` of the stage's requests. */
  arrivals(oneIn: number): Float64Array;
  /** Rate of the whole stage. */
  readonly stageRequestsPerSecond: number;
  /** No replica ever gets more than this: loads above it are not simulated. */
  readonly highestRequestsPerSecond: number;
  /** 0.95 for p95. */
  readonly quantile: number;
}

/**
 * Loads at which a replica is simulated, as shares of its saturation rate. Denser where the curve bends. It ends at 0.95: closer
 * to saturation waiting times depend on the length of the run more than on the load, and no plan should stand there.
 */
export const LOAD_SHARES = [0.05, 0.3, 0.55, 0.75, 0.88, 0.95] as const;

/** Requests at the start of a run that find an emptier replica than those after them. */
const WARM_UP_SHARE = 0.15;

/** Simulates a replica over its range of loads (Sim of Cascadia, section 3.2 and appendix B); `null` when it cannot hold a request. */
export function loadCurve(replica: ReplicaModel, work: CurveWork): LoadCurve | null {
  const saturation = saturationRate(replica, work);
  if (saturation === null) return null;
  const highest = Math.min(LOAD_SHARES[LOAD_SHARES.length - 1] ?? 1, work.highestRequestsPerSecond / saturation);
  const shares = [...LOAD_SHARES.filter((share) => share < highest), highest];
  const rates = Float64Array.from(shares, (share) => share * saturation);
  const seconds = rates.map((rate) => secondsAtRate(replica, work, rate));
  for (let index = 1; index < seconds.length; index += 1) seconds[index] = Math.max(seconds[index] ?? 0, seconds[index - 1] ?? 0);
  return { rates, seconds };
}

/** Percentile of one replica's latency at a rate, the run's first requests left out. */
export function secondsAtRate(replica: ReplicaModel, work: CurveWork, requestsPerSecond: number): number {
  const oneIn = Math.max(1, work.stageRequestsPerSecond / requestsPerSecond);
  const arrivalSeconds = atRate(work.arrivals(oneIn), requestsPerSecond);
  const { endToEndSeconds } = simulateReplica(replica, { ...work, arrivalSeconds });
  return quantile(endToEndSeconds.subarray(Math.floor(WARM_UP_SHARE * endToEndSeconds.length)), work.quantile);
}

/** The highest rate at which the replica stays within a latency; 0 where no load is light enough. Linear between simulated loads. */
export function rateWithin({ rates, seconds }: LoadCurve, limitSeconds: number): number {
  let index = seconds.length - 1;
  while (index >= 0 && (seconds[index] ?? 0) > limitSeconds) index -= 1;
  if (index < 0) return 0;
  const rate = rates[index] ?? 0;
  const nextRate = rates[index + 1];
  if (nextRate === undefined) return rate;
  const below = seconds[index] ?? 0;
  const above = seconds[index + 1] ?? below;
  return rate + ((limitSeconds - below) / (above - below)) * (nextRate - rate);
}

/**
 * Requests per second a replica finishes when it never runs dry: all arrive at once, and the middle of the finishes is
 * timed, without the filling and draining at both ends. `null` when a request exceeds its KV cache.
 */
function saturationRate(replica: ReplicaModel, work: CurveWork): number | null {
  const count = work.inputTokens.length;
  const { endToEndSeconds, refused } = simulateReplica(replica, { ...work, arrivalSeconds: new Float64Array(count) });
  if (refused > 0) return null;
  const finishes = endToEndSeconds.slice().sort();
  const from = finishes[Math.floor(0.2 * count)] ?? 0;
  const to = finishes[Math.floor(0.8 * count)] ?? 0;
  return to > from ? (0.6 * count) / (to - from) : null;
}
