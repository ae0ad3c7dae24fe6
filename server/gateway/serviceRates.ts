import { ServiceRate } from "./serviceRate";

/** When to ask again where nothing tells: as long as a failed engine's next probe takes at most. */
export const unknownRetrySeconds = 10;
const longestRetrySeconds = 120;

/** How fast each model answers. */
export class ServiceRates {
  readonly #rates = new Map<string, ServiceRate>();

  /** An engine of `model` has answered. */
  answered(model: string): void {
    const rate = this.#rates.get(model) ?? new ServiceRate();
    this.#rates.set(model, rate);
    rate.done(performance.now());
  }

  /** Wall seconds, whole and at least 1, until `queued` requests for `model` are served at the rate of its last answers. */
  drainSeconds(model: string, queued: number): number {
    const perSecond = this.#rates.get(model)?.perSecond(performance.now()) ?? null;
    const seconds = perSecond === null ? unknownRetrySeconds : queued / perSecond;
    return Math.min(longestRetrySeconds, Math.max(1, Math.ceil(seconds)));
  }

  /** Forgets all models but these. */
  keep(models: readonly string[]): void {
    for (const model of this.#rates.keys()) if (!models.includes(model)) this.#rates.delete(model);
  }
}
