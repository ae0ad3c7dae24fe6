import { gammaArrivals } from "./gammaArrivals";
import { atRate, thinnedArrivals } from "./thinning";

/** The arrival process of an open loop. */
export type ArrivalLaw =
  | { readonly kind: "poisson" }
  /** Independent Gamma gaps; `burstiness` is the coefficient of variation (standard deviation / mean): 1 is Poisson, above it bursty. */
  | { readonly kind: "gamma"; readonly burstiness: number }
  /** Recorded arrivals, ascending, with their bursts; scaled to the rate, and repeated from the start where they end. */
  | { readonly kind: "trace"; readonly arrivalSeconds: Float64Array };

export interface Arrivals {
  readonly law: ArrivalLaw;
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Seed of the draws; a trace has none. */
  readonly seed: number;
}

/**
 * Arrivals of an open loop.
 *
 * @returns ascending seconds since the first arrival.
 * @throws when the rate or the burstiness is not above 0, or the trace is empty.
 */
export function arrivals({ law, requests, requestsPerSecond, seed }: Arrivals): Float64Array {
  if (!(requestsPerSecond > 0)) throw new Error(`Arrivals need a rate above 0 requests/s, found ${requestsPerSecond}`);
  switch (law.kind) {
    case "poisson":
      return gammaArrivals({ requests, requestsPerSecond, shape: 1, seed });
    case "gamma":
      if (!(law.burstiness > 0)) throw new Error(`The burstiness of arrivals must be above 0, found ${law.burstiness}`);
      return gammaArrivals({ requests, requestsPerSecond, shape: 1 / law.burstiness ** 2, seed });
    case "trace":
      if (law.arrivalSeconds.length === 0) throw new Error("A trace without arrivals has none to replay");
      return atRate(thinnedArrivals(law.arrivalSeconds, { share: 1, oneIn: 1, count: requests, seed }), requestsPerSecond);
  }
}
