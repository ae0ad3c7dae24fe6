import type { WorthTerms } from "../core/roundsView";

/**
 * The worth of a model for a waiting request, in seconds; the model of highest worth is chosen:
 *
 *     worth(i, m) = mu * q(i, m) - L(i, m) - D(i, m) - lambda(m) * T(i, m) - rest(i, m)
 *
 * `D` is the delay of the requests that run or wait now, `lambda` the plan's price of a token, which stands for those that come later
 * (`tokenPrices.ts`; 0 without prices).
 *
 * Requests are served in the policy's order, which holds what Kairos adds (remaining work, waiting time, ageing), and engines are given by its
 * place. Candidates are a program's accurate configurations (Aragog; `q` is 1), or a single request's stage and, where it may start later, the
 * stages after it (Cascadia). Chimera's slack chooses the stage before a request is weighed (`routes/slackRoute.ts`): it has one candidate.
 * Aragog's beam search is another choice among the same candidates (`searchRounds.ts`), not this sum with terms at zero.
 */
export const worthOf = ({ surenessSeconds, latencySeconds, priceSeconds, planPriceSeconds, restSeconds }: WorthTerms): number =>
  surenessSeconds - latencySeconds - priceSeconds - planPriceSeconds - restSeconds;
