import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { gammaDraw } from "../engine/gammaArrivals";

/** An interval with one rate. */
export interface RateStep {
  readonly seconds: number;
  /** null: not known, and there are no arrivals. */
  readonly requestsPerSecond: number | null;
}

export interface HourlyArrivals {
  readonly steps: readonly RateStep[];
  /** Gamma shape of the gaps: 1 is Poisson, below it bursty, above it regular. */
  readonly shape: number;
  readonly seed: number;
}

/** Expected number of arrivals in the steps. */
export const expectedArrivals = (steps: readonly RateStep[]): number =>
  steps.reduce((sum, { seconds, requestsPerSecond }) => sum + seconds * (requestsPerSecond ?? 0), 0);

/**
 * Arrivals whose rate follows the steps: a stationary Gamma renewal process of rate 1, whose times are mapped back through the
 * cumulative rate (time rescaling, Brown et al. 2002). So the expected number in every interval is its rate times its length, and arrivals
 * are as bursty in busy hours as in quiet ones.
 *
 * @returns seconds since the first step began, ascending; none where no step has any.
 */
export function hourlyArrivals({ steps, shape, seed }: HourlyArrivals): Float64Array {
  const random = seededRandom(mixSeed(seed, "hourly arrivals"));
  const arrivals: number[] = [];
  // A stationary process is observed within a gap, more likely within a longer one: that gap's distribution has one more shape unit.
  let due = (random.next() * gammaDraw(shape + 1, random)) / shape;
  let beganSeconds = 0;
  let carried = 0;
  for (const { seconds, requestsPerSecond } of steps) {
    const rate = requestsPerSecond ?? 0;
    const carriedAfter = carried + rate * seconds;
    while (due < carriedAfter) {
      // Rounding must not move it into the next step, which may be an empty one.
      arrivals.push(beganSeconds + Math.min(seconds, (due - carried) / rate));
      due += gammaDraw(shape, random) / shape;
    }
    beganSeconds += seconds;
    carried = carriedAfter;
  }
  return Float64Array.from(arrivals);
}
