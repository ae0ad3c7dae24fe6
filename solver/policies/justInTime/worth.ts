/**
 * The terms of one model for one waiting request, in seconds; the best model has the highest worth:
 *
 *     worth(i, m) = mu * q(i, m) - L(i, m) - lambda(m) * T(i, m) - rest(i, m)
 *
 * Requests are served in the policy's order, which holds what Kairos adds (remaining work, waiting time, ageing). Systems are this with
 * terms fixed: Aragog's accurate configurations are the only candidates (`q` is 0 or 1), Chimera's slack bounds `L`, a cascade's stage is one candidate.
 */
export interface WorthTerms {
  /** `mu * q`: the chance that the answer is right, 0..1, in seconds that a right answer is worth. */
  readonly surenessSeconds: number;
  /** `L`: until the model has answered, the wait for a free slot included. */
  readonly latencySeconds: number;
  /** `lambda * T`: what the request's tokens there delay others by, all together. */
  readonly priceSeconds: number;
  /** The least `L + lambda * T` of what its program still has to do if this model is taken. */
  readonly restSeconds: number;
}

export const worthOf = ({ surenessSeconds, latencySeconds, priceSeconds, restSeconds }: WorthTerms): number =>
  surenessSeconds - latencySeconds - priceSeconds - restSeconds;
