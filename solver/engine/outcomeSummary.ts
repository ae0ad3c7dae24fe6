import { mean, quantileOfSorted } from "../numeric/quantile";
import type { KvBin } from "./kvUse";
import type { ReplicaOutcome } from "./replicaOutcome";
import { utilisationAt } from "./saturation";

/** A latency over the requests that were served. NaN in every field when there are no such requests. */
export interface LatencySummary {
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
}

/** The results of one replica. Refused requests count in `refused` only. */
export interface OutcomeSummary {
  readonly served: number;
  readonly refused: number;
  readonly preemptions: number;
  /** Waiting time for the front end and for a place in the batch. */
  readonly queueSeconds: LatencySummary;
  /** Arrival to first token. */
  readonly ttftSeconds: LatencySummary;
  /** Between tokens after the first, see `tpotSeconds`. */
  readonly tpotSeconds: LatencySummary;
  /** Arrival to last token. */
  readonly endToEndSeconds: LatencySummary;
  /** Served requests divided by the time from first arrival to last finish, filling and draining included; NaN when no time passed. */
  readonly requestsPerSecond: number;
  readonly outputTokensPerSecond: number;
  /** Share of that time in which a step was running. Near 1 long before the replica is full: see `utilisation` for that. */
  readonly busyShare: number;
  /** Rate of the arrivals over the saturation rate; `null` without a saturation rate or when all arrive at once. */
  readonly utilisation: number | null;
  readonly peakKvTokens: number;
  /** `null` unless the run recorded it. */
  readonly kvUse: readonly KvBin[] | null;
}

/**
 * The only function that summarises a replica's latencies.
 *
 * @param saturationRequestsPerSecond from `saturationRate`, for the utilisation.
 */
export function summarizeOutcome(outcome: ReplicaOutcome, saturationRequestsPerSecond: number | null): OutcomeSummary {
  const { horizonSeconds, busySeconds, preemptions, peakKvTokens, kvUse, refused } = outcome;
  const endToEnd = served(outcome.endToEndSeconds);
  const offered = offeredRequestsPerSecond(outcome);
  let outputTokens = 0;
  for (const [index, seconds] of outcome.endToEndSeconds.entries()) {
    if (seconds !== Number.POSITIVE_INFINITY) outputTokens += Math.max(1, outcome.outputTokens[index] ?? 0);
  }
  return {
    served: endToEnd.length,
    refused,
    preemptions,
    queueSeconds: latencySummary(served(outcome.queueSeconds)),
    ttftSeconds: latencySummary(served(outcome.ttftSeconds)),
    tpotSeconds: latencySummary(tpotSeconds(outcome)),
    endToEndSeconds: latencySummary(endToEnd),
    requestsPerSecond: endToEnd.length / horizonSeconds,
    outputTokensPerSecond: outputTokens / horizonSeconds,
    busyShare: busySeconds / horizonSeconds,
    utilisation: offered === null || saturationRequestsPerSecond === null ? null : utilisationAt(offered, saturationRequestsPerSecond),
    peakKvTokens,
    kvUse,
  };
}

/**
 * Time per output token of each served request with two tokens or more, `(end - first token) / (output tokens - 1)`; a request
 * of one token has none. In the order of the arrivals.
 */
export function tpotSeconds({
  ttftSeconds,
  endToEndSeconds,
  outputTokens,
}: Pick<ReplicaOutcome, "ttftSeconds" | "endToEndSeconds" | "outputTokens">): Float64Array {
  const seconds: number[] = [];
  for (const [index, endToEnd] of endToEndSeconds.entries()) {
    const tokens = outputTokens[index] ?? 0;
    if (tokens >= 2 && endToEnd !== Number.POSITIVE_INFINITY) seconds.push((endToEnd - (ttftSeconds[index] ?? 0)) / (tokens - 1));
  }
  return Float64Array.from(seconds);
}

/** Mean and percentiles of seconds in any order. */
export function latencySummary(seconds: Float64Array): LatencySummary {
  const sorted = seconds.slice().sort();
  const at = (q: number): number => quantileOfSorted(sorted, q);
  return { mean: mean(sorted), p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99) };
}

const served = (seconds: Float64Array): Float64Array => seconds.filter((value) => value !== Number.POSITIVE_INFINITY);

/**
 * Arrivals after the first instant divided by the time from the first arrival to the last: simultaneous arrivals at the start, as in
 * a closed loop, do not count as a rate. `null` when all arrive at once.
 */
function offeredRequestsPerSecond({ arrivalSeconds }: ReplicaOutcome): number | null {
  const first = arrivalSeconds[0] ?? 0;
  const span = (arrivalSeconds[arrivalSeconds.length - 1] ?? 0) - first;
  let later = 0;
  for (let index = 0; index < arrivalSeconds.length; index++) if ((arrivalSeconds[index] ?? 0) > first) later++;
  return span > 0 ? later / span : null;
}
