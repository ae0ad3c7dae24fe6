import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { splitPrompts } from "./split";
import type { RequestSample, Workload } from "./workload";

export interface SampleOptions {
  /** Plans may be fitted to `planning` prompts; `heldOut` prompts are fresh traffic. */
  readonly part: "planning" | "heldOut";
  /** Mean rate of the sample. */
  readonly requestsPerSecond: number;
  readonly requests: number;
  /** Seed of the draw of prompts: another seed is another day with the same arrivals. */
  readonly seed: number;
}

/**
 * Draws requests by the workload's stated rule. The arrivals are the first `requests` of the recorded trace; if more
 * are requested than it has, it starts over one mean gap after its end. All are divided by one constant, so that the mean rate
 * of the sample itself is the requested one (a trace's first thousand arrivals may be slower than its whole). Each arrival gets
 * a prompt drawn with replacement from one part of the outcome table.
 *
 * @returns arrivals in seconds from 0, ascending, and row indices of `workload.outcomes`.
 * @throws RangeError on a rate that is not positive or fewer than one request.
 */
export function drawSample(workload: Pick<Workload, "outcomes" | "arrivalSeconds" | "seed">, options: SampleOptions): RequestSample {
  const { requests, requestsPerSecond } = options;
  if (!(requestsPerSecond > 0 && Number.isFinite(requestsPerSecond))) {
    throw new RangeError(`A sample needs a rate above 0 requests/s, found ${requestsPerSecond}`);
  }
  if (!(Number.isInteger(requests) && requests >= 1)) throw new RangeError(`A sample needs at least 1 request, found ${requests}`);
  const split = splitPrompts(workload.outcomes.promptIds.length, workload.seed);
  const part = split[options.part];
  const random = seededRandom(mixSeed(workload.seed, options.seed, options.part, "prompts"));
  return {
    arrivalSeconds: scaledArrivals(workload.arrivalSeconds, requests, requestsPerSecond),
    prompt: Int32Array.from({ length: requests }, () => part[random.int(part.length)] ?? 0),
  };
}

function scaledArrivals(recorded: Float64Array, requests: number, requestsPerSecond: number): Float64Array {
  const count = recorded.length;
  const recordedSpan = recorded[count - 1] ?? 0;
  if (!(count >= 2 && recordedSpan > 0)) throw new RangeError("Recorded arrivals must span some time: two of them, not all at once");
  const lap = recordedSpan + recordedSpan / (count - 1);
  const unscaled = Float64Array.from({ length: requests }, (_, at) => Math.floor(at / count) * lap + (recorded[at % count] ?? 0));
  // Simultaneous first arrivals have no rate: they are scaled like the whole trace.
  const span = unscaled[requests - 1] ?? 0;
  const unscaledRate = span > 0 ? (requests - 1) / span : (count - 1) / recordedSpan;
  const divisor = requestsPerSecond / unscaledRate;
  return unscaled.map((seconds) => seconds / divisor);
}
