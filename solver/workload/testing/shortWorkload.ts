import { type GeneratedOptions, generatedWorkload } from "../generated";
import type { Workload } from "../workload";

/** A little more than the least number of requests with which a plan is verified. */
const ARRIVALS = 3000;

/**
 * The first arrivals of a generated workload. Simulations go through a trace once, so planning takes a fraction of the time. The intervals
 * between generated arrivals are independent: a part of the trace has the same bursts as the whole, only its percentiles scatter more.
 */
export const shortTrace = (arrivalSeconds: Float64Array): Float64Array => arrivalSeconds.slice(0, ARRIVALS);

/** A generated workload with a short trace, for tests in which the length of the trace does not matter. */
export function shortWorkload(options: GeneratedOptions): Workload {
  const workload = generatedWorkload(options);
  return { ...workload, arrivalSeconds: shortTrace(workload.arrivalSeconds) };
}
