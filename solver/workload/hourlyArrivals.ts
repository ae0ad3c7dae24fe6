import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { gammaDraw } from "../engine/gammaArrivals";

/** A stretch of time with one rate. */
export interface RateStep {
  readonly seconds: number;
  /** null: not known, and nothing arrives. */
  readonly requestsPerSecond: number | null;
}

export interface HourlyArrivals {
  readonly steps: readonly RateStep[];
  /** Of the gaps: 1 is Poisson, below it bursty, above it regular. */
  readonly shape: number;
  readonly seed: number;
}

/** Arrivals that steps carry in the mean. */
export const expectedArrivals = (steps: readonly RateStep[]): number =>
  steps.reduce((sum, { seconds, requestsPerSecond }) => sum + seconds * (requestsPerSecond ?? 0), 0);

/**
 * Arrivals whose rate follows the steps: a Gamma renewal process of rate 1, begun long before, whose times are mapped back through the
 * cumulative rate (time rescaling, Brown et al. 2002). So every stretch carries its rate times its length in the mean, and arrivals are
 * as bursty in busy hours as in quiet ones.
 *
 * @returns seconds since the first step began, ascending; none where no step carries any.
 */
export function hourlyArrivals({ steps, shape, seed }: HourlyArrivals): Float64Array {
  const random = seededRandom(mixSeed(seed, "hourly arrivals"));
  const arrivals: number[] = [];
  // A process that began long ago is met within a gap, and the more likely within a longer one: that gap's law has one shape more.
  let due = (random.next() * gammaDraw(shape + 1, random)) / shape;
  let beganSeconds = 0;
  let carried = 0;
  for (const { seconds, requestsPerSecond } of steps) {
    const rate = requestsPerSecond ?? 0;
    const carriedAfter = carried + rate * seconds;
    while (due < carriedAfter) {
      // Rounding must not put it into the next step, which may be an empty one.
      arrivals.push(beganSeconds + Math.min(seconds, (due - carried) / rate));
      due += gammaDraw(shape, random) / shape;
    }
    beganSeconds += seconds;
    carried = carriedAfter;
  }
  return Float64Array.from(arrivals);
}
