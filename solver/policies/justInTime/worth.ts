import type { WorthTerms } from "../core/roundsView";

/**
 * The worth of a model for a waiting request, in seconds; the model of highest worth is chosen:
 *
 *     worth(i, m) = mu * q(i, m) - L(i, m) - D(i, m) - lambda(m) * T(i, m) - rest(i, m)
 *
 * `D` is the delay of the requests that run or wait now, `lambda` the plan's price of a token, which stands for those that come later
 * (`tokenPrices.ts`; 0 without prices).
 *
 * Requests are served in the policy's order, which holds what Kairos adds (remaining work, waiting time, ageing). Systems are this with
 * terms fixed: Aragog's accurate configurations are the only candidates (`q` is 0 or 1), Chimera's slack bounds `L`, a cascade's stage is one
 * candidate, and later stages are more.
 */
export const worthOf = ({ surenessSeconds, latencySeconds, priceSeconds, planPriceSeconds, restSeconds }: WorthTerms): number =>
  surenessSeconds - latencySeconds - priceSeconds - planPriceSeconds - restSeconds;
