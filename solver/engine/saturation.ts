import type { ReplicaModel } from "./replicaModel";
import type { ReplicaRequests } from "./replicaOutcome";
import { simulateReplica } from "./simulateReplica";

/** From this utilisation on waiting grows so fast with the load that a forecast is no longer reliable. */
export const CAUTION_UTILISATION = 0.85;

export type Stability = "stable" | "near-saturation" | "unstable";

/**
 * Requests per second that a replica finishes when it always has work: the first `count` arrive at once, and the middle of the finishes is
 * timed, without the filling and draining at both ends. `count` should be several times the largest batch. `null` when a
 * request exceeds the KV cache, or when all of the middle finish together.
 */
export function saturationRate(model: ReplicaModel, requests: ReplicaRequests, count: number): number | null {
  const { endToEndSeconds, refused } = simulateReplica(model, { ...requests, arrivalSeconds: new Float64Array(count) });
  if (refused > 0) return null;
  const finishes = endToEndSeconds.slice().sort();
  const from = finishes[Math.floor(0.2 * count)] ?? 0;
  const to = finishes[Math.floor(0.8 * count)] ?? 0;
  return to > from ? (0.6 * count) / (to - from) : null;
}

/** Load of a replica as a share of its saturation rate: at 1 and above its queue grows without end. */
export function utilisationAt(requestsPerSecond: number, saturationRequestsPerSecond: number): number {
  return requestsPerSecond / saturationRequestsPerSecond;
}

/**
 * The meaning of a utilisation, judged at the low end of what the replica may sustain: with a relative error of 0.1 a saturation rate of 10
 * requests/s may be 9, and 9 requests/s already count as unstable. "unstable" from 1 on, "near-saturation" from
 * `CAUTION_UTILISATION` on. An unknown utilisation (NaN) is not called stable: it is "unstable".
 *
 * @param relativeError of the saturation rate, 0..1; 0 when left out.
 */
export function stabilityOf(utilisation: number, relativeError = 0): Stability {
  const worst = utilisation / Math.max(0, 1 - relativeError);
  if (worst < CAUTION_UTILISATION) return "stable";
  return worst < 1 ? "near-saturation" : "unstable";
}
