import { CAUTION_UTILISATION } from "@/solver/engine/saturation";
import { throughputAt } from "@/solver/engine/throughputCurve";
import type { TokenPriceDocument } from "@/solver/plan/policySchema";
import { meanWaiting, waitingCaused } from "./meanWaiting";
import type { ProfiledModel } from "./modelEngines";

/** A model's engines in a plan. */
export interface PlannedLoad {
  readonly model: string;
  readonly replicas: number;
  /** Planned work over capacity. */
  readonly load: number;
}

/** About one request's time, so that a burst which is over does not keep its price: 5 s were as good as 30 s or better in simulated mixes. */
const DAMPING_SECONDS = 5;

/**
 * Prices of the models' tokens from the loads of a plan. A plan that divides traffic among models so that the fewest requests wait solves
 *
 *     minimise  sum over models of W_m(load_m),  where  load_m C_m >= the tokens a second that model m writes,
 *
 * with `W_m` the mean number of waiting requests (`meanWaiting`, over all slots of the model's replicas) and `C_m` the output tokens a second
 * of these at saturation. The multiplier of a model's capacity at the optimum is `W_m'(load_m) / C_m`. A request that is dispatched pays its
 * own waiting in its own latency, so that its price is the rest:
 *
 *     lambda(m) = (W_m'(load_m) - W_m(load_m) / load_m) / C_m    seconds a token
 *
 * the time by which one more output token a second delays all others. It is 0 on an idle model and grows as `1 / (1 - load)^2`. Loads above
 * `CAUTION_UTILISATION` count as it: beyond, the planned load is too uncertain to say a price, and the backlog corrects it
 * (`tokenPrices.ts`). The prices of `solveMix` are multipliers of another program, of the highest rates, and say nothing of time.
 *
 * @param planned models without an entry are not loaded.
 */
export function plannedPrice(models: readonly ProfiledModel[], planned: readonly PlannedLoad[]): TokenPriceDocument {
  const priced = models.map((profile) => {
    const { model, saturationBatch } = profile;
    const { replicas = 0, load = 0 } = planned.find((own) => own.model === model) ?? {};
    if (replicas === 0) return { model, secondsPerToken: 0, waiting: 0 };
    const counted = Math.min(CAUTION_UTILISATION, load);
    const slots = replicas * saturationBatch;
    const tokensPerSecond = replicas * throughputAt(profile, saturationBatch);
    return { model, secondsPerToken: waitingCaused(counted, slots) / tokensPerSecond, waiting: meanWaiting(counted, slots) };
  });
  return { models: priced, dampingSeconds: DAMPING_SECONDS };
}
