import type { SlackPolicy } from "@/solver/plan/policySchema";

/** A model as prices see it. */
interface PricedModel {
  /** Seconds of its capacity that one expected token takes; Infinity without replicas. */
  readonly secondsPerToken: number;
  /** Output tokens that a request counts as there; left out: the same for all models. */
  readonly meanOutputTokens?: number | undefined;
}

/** Prices of models in confidence, for one moment. */
interface SlackPrices {
  /** Tokens that each model has yet to write, from this moment on until the next call. Times that run back count as no time. */
  observe(nowSeconds: number, tokens: readonly number[]): void;
  /** Confidence, 0 or more, that a request must be worth at each model: its dual price. 0 for a model without replicas. */
  of(models: readonly PricedModel[]): readonly number[];
}

/**
 * Dual prices of scarce capacity, from the backlog. To answer as many requests right as the models' capacities let is the linear program
 * `max sum q x` under one constraint a model, `its requests' work <= its seconds`; a model's backlog, scaled, is a subgradient estimate of
 * that constraint's multiplier (drift plus penalty). The price of a request at model m is
 *
 *     weight * (smoothed load of m / floor) * (work of the request at m / least work at any model)
 *
 * with the load smoothed by an exponential of `dampingSeconds`, so that one burst does not turn all requests away and back. The least work
 * is that of a model with replicas. Not in the source: its slack looks at loads only, and at a wide slack an expensive model fills up with
 * requests that a cheap one answers as well.
 *
 * @returns null where the policy has no price.
 */
export function slackPrices({ price, floorSeconds, models }: Pick<SlackPolicy, "price" | "floorSeconds" | "models">): SlackPrices | null {
  if (price === undefined) return null;
  const { weight, dampingSeconds } = price;
  const smoothed = models.map(() => 0);
  const last = models.map(() => 0);
  let since = Number.NaN;
  return {
    observe(nowSeconds, tokens) {
      const passed = Number.isNaN(since) ? 0 : Math.max(0, nowSeconds - since);
      const share = -Math.expm1(-passed / dampingSeconds);
      for (const [model, backlog] of tokens.entries()) {
        smoothed[model] = (smoothed[model] ?? 0) + share * ((last[model] ?? 0) - (smoothed[model] ?? 0));
        last[model] = backlog;
      }
      since = Number.isNaN(since) ? nowSeconds : Math.max(since, nowSeconds);
    },
    of(priced) {
      const works = priced.map(({ secondsPerToken, meanOutputTokens = 1 }) => secondsPerToken * meanOutputTokens);
      const least = Math.min(...works);
      return priced.map(({ secondsPerToken }, model) => {
        const work = works[model] ?? Number.POSITIVE_INFINITY;
        if (!Number.isFinite(work)) return 0;
        return weight * (((smoothed[model] ?? 0) * secondsPerToken) / floorSeconds) * (work / least);
      });
    },
  };
}
