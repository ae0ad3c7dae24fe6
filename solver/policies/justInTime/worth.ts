import type { WorthTerms } from "../core/roundsView";

/**
 * The worth of a model for a waiting request, in seconds; the model of highest worth is chosen:
 *
 *     worth(i, m) = mu * q(i, m) - L(i, m) - lambda(m) * T(i, m) - rest(i, m)
 *
 * Requests are served in the policy's order, which holds what Kairos adds (remaining work, waiting time, ageing). Systems are this with
 * terms fixed: Aragog's accurate configurations are the only candidates (`q` is 0 or 1), Chimera's slack bounds `L`, a cascade's stage is one
 * candidate, and later stages are more.
 */
export const worthOf = ({ surenessSeconds, latencySeconds, priceSeconds, restSeconds }: WorthTerms): number =>
  surenessSeconds - latencySeconds - priceSeconds - restSeconds;
