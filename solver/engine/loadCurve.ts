import { quantile } from "../numeric/quantile";
import { PLANNED_LOAD } from "./plannedLoad";
import type { ReplicaModel } from "./replicaModel";
import { saturationRate } from "./saturation";
import { simulateReplica } from "./simulateReplica";
import { atRate } from "./thinning";

/** How the latency percentile of one replica grows with its load, for one mix of requests. */
export interface LoadCurve {
  /** Requests per second, ascending from 0: requests that never overlap. */
  readonly rates: Float64Array;
  /** Percentile of seconds from arrival at the replica to the last token, non-decreasing. */
  readonly seconds: Float64Array;
  /** Rate at which the replica finishes requests when it always has work: its load is a share of this. */
  readonly saturationRequestsPerSecond: number;
}

/** The requests that one replica is simulated with, in order of arrival. Shorter runs use the first of them. */
export interface CurveWork {
  readonly inputTokens: Int32Array;
  readonly outputTokens: Int32Array;
  /** `count` unscaled arrivals of one replica that gets one in `oneIn` of the stage's requests. */
  arrivals(oneIn: number, count: number): Float64Array;
  /** Requests of the recorded trace that reach the stage. */
  readonly traceRequests: number;
  /** Rate of the whole stage. */
  readonly stageRequestsPerSecond: number;
  /** Maximum rate of a replica: higher loads are not simulated. */
  readonly highestRequestsPerSecond: number;
  /** 0.95 for p95. */
  readonly quantile: number;
}

/** One load to simulate: a share of the replica's saturation rate, and bounds on the requests of its run. */
export interface LoadPoint {
  readonly share: number;
  readonly least: number;
  readonly most: number;
}

/**
 * Loads for the tables of a search. Waiting comes from bursts, and slow bursts show only over the whole trace: a run
 * covers it once, within the bounds. Runs that ended after a third of the conversation trace of Azure gave p95s up to 36 % too
 * low for large replicas, which get a large part of a stage's traffic.
 */
export const SEARCH_LOADS: readonly LoadPoint[] = [
  { share: 0.05, least: 300, most: 300 },
  { share: 0.5, least: 600, most: 1500 },
  { share: 0.75, least: 1400, most: 6000 },
  { share: PLANNED_LOAD, least: 2400, most: 12_000 },
];

/** Loads for the tables of a finalist. */
export const FINALIST_LOADS: readonly LoadPoint[] = [0.05, 0.3, 0.5, 0.65, 0.75, 0.83, PLANNED_LOAD].map((share) => ({
  share,
  least: share < 0.6 ? 1200 : 3000,
  most: share < 0.5 ? 1200 : 12_000,
}));

/** Loads that distinguish useful shapes from useless ones. */
export const SCREENING_LOADS: readonly LoadPoint[] = [0.05, 0.5, PLANNED_LOAD].map((share) => ({ share, least: 200, most: 200 }));

/** Requests of a run at saturation: several times the largest batch. */
const SATURATION_REQUESTS = 900;

/** Requests at the start of a run that meet an emptier replica than later ones. */
const WARM_UP_SHARE = 0.15;

/**
 * Simulates a replica over a range of loads (Sim of Cascadia, section 3.2 and appendix B), from requests alone on it: at rates far below
 * saturation only this shows the benefit of more replicas. `null` when it cannot hold a request.
 */
export function loadCurve(replica: ReplicaModel, work: CurveWork, loads: readonly LoadPoint[]): LoadCurve | null {
  const saturation = saturationRate(replica, work, Math.min(SATURATION_REQUESTS, 3 * (loads[0]?.most ?? 0)));
  if (saturation === null) return null;
  // The first load beyond the maximum rate is simulated at exactly that rate.
  const needed = loads.findIndex(({ share }) => share * saturation >= work.highestRequestsPerSecond);
  const points = loads.slice(0, needed < 0 ? loads.length : needed + 1);
  const loaded = points.map(({ share }) => Math.min(share * saturation, work.highestRequestsPerSecond));
  const rates = Float64Array.from([0, ...loaded]);
  const seconds = Float64Array.from([
    idleSeconds(replica, work, loads[0]?.least ?? 0),
    ...points.map((point, index) => secondsAtRate(replica, work, { ...point, rate: loaded[index] ?? 0 })),
  ]);
  for (let index = 1; index < seconds.length; index += 1) seconds[index] = Math.max(seconds[index] ?? 0, seconds[index - 1] ?? 0);
  return { rates, seconds, saturationRequestsPerSecond: saturation };
}

/** Seconds between requests such that each arrives at an empty replica. */
const APART_SECONDS = 1e5;

/** Percentile of the latency of requests that never overlap. */
function idleSeconds(replica: ReplicaModel, work: CurveWork, requests: number): number {
  const arrivalSeconds = Float64Array.from({ length: requests }, (_, index) => index * APART_SECONDS);
  return quantile(simulateReplica(replica, { ...work, arrivalSeconds }).endToEndSeconds, work.quantile);
}

/** Percentile of one replica's latency at a rate in requests per second, without the run's first requests. */
function secondsAtRate(
  replica: ReplicaModel,
  work: CurveWork,
  { rate, least, most }: { readonly rate: number } & Omit<LoadPoint, "share">,
): number {
  const oneIn = Math.max(1, work.stageRequestsPerSecond / rate);
  const requests = runLength(work.traceRequests / oneIn, { least, most });
  const arrivalSeconds = atRate(work.arrivals(oneIn, requests), rate);
  const { endToEndSeconds } = simulateReplica(replica, { ...work, arrivalSeconds });
  return quantile(endToEndSeconds.subarray(Math.floor(WARM_UP_SHARE * requests)), work.quantile);
}

/**
 * Number of requests of a run: as many whole passes through the replica's part of the trace as reach the minimum, but never above the
 * maximum. The minimum where no request of the trace reaches the replica's stage.
 */
export function runLength(perPass: number, { least, most }: Pick<LoadPoint, "least" | "most">): number {
  if (perPass <= 0) return least;
  return Math.min(most, Math.ceil(perPass * Math.max(1, Math.ceil(least / perPass))));
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
