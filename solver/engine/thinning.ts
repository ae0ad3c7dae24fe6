import { type Random, seededRandom } from "../numeric/random";

export interface Thinning {
  /** Share of all requests that reach the stage. */
  readonly share: number;
  /** Arrivals of the stage per arrival at one of its replicas; at least 1. */
  readonly oneIn: number;
  readonly count: number;
  readonly seed: number;
}

/**
 * The arrivals that one replica of a stage sees, derived from recorded arrivals: each request independently reaches the stage with
 * probability `share`, and the stage's arrivals go to its replicas in turn, so that one in `oneIn` is this replica's (a fraction: on
 * average). The trace's bursts remain, as far as thinning preserves them. Where the trace ends it repeats from the start.
 *
 * @returns `count` ascending seconds, starting at 0, in the trace's own clock; scale them to the requested rate.
 */
export function thinnedArrivals(recorded: Float64Array, { share, oneIn, count, seed }: Thinning): Float64Array {
  const length = recorded.length;
  const span = recorded[length - 1] ?? 0;
  const lap = span + span / Math.max(1, length - 1);
  const random = seededRandom(seed);
  const seconds = new Float64Array(count);
  let at = 0;
  let reached = 0;
  for (let index = 0; index < count; index += 1) {
    // The stage arrival that is this replica's next, counted from the first.
    const wanted = Math.floor(index * oneIn);
    if (share >= 1) at = wanted;
    else if (index > 0) at += requestsUntil(wanted - reached, share, random);
    reached = wanted;
    seconds[index] = Math.floor(at / length) * lap + (recorded[at % length] ?? 0);
  }
  const first = seconds[0] ?? 0;
  return seconds.map((value) => value - first);
}

/** From this number on, a sum of geometric gaps is drawn as a normal with the same mean and variance: a single draw. */
const MANY = 8;

/** Requests up to and including the `arrivals`-th that reaches the stage. */
function requestsUntil(arrivals: number, share: number, random: Random): number {
  if (arrivals >= MANY) {
    const spread = Math.sqrt(arrivals * (1 - share)) / share;
    return Math.max(arrivals, Math.round(arrivals / share + spread * random.normal()));
  }
  let requests = 0;
  for (let arrival = 0; arrival < arrivals; arrival += 1) requests += 1 + Math.floor(Math.log(1 - random.next()) / Math.log1p(-share));
  return requests;
}

/** The same arrivals at a mean rate. Simultaneous arrivals cannot be scaled and are spread evenly. */
export function atRate(seconds: Float64Array, requestsPerSecond: number): Float64Array {
  const count = seconds.length;
  const span = seconds[count - 1] ?? 0;
  if (!(span > 0)) return seconds.map((_, index) => index / requestsPerSecond);
  const factor = (count - 1) / span / requestsPerSecond;
  return seconds.map((value) => value * factor);
}
