/** Retry time if nothing is known: the largest interval between health checks. Clients sleep as long before each of their two retries. */
export const unknownRetrySeconds = 2;
/** A full queue has room long before all that wait in it are served. */
const longestRetrySeconds = 30;
/** Enough for a rate within some ten percent, and few enough to follow a change within seconds. */
const remembered = 64;

/** Rate of a model's answers, from the times of the last ones. */
export class ServiceRate {
  readonly #doneMs: number[] = [];

  /** A request is finished. */
  done(nowMs: number): void {
    this.#doneMs.push(nowMs);
    if (this.#doneMs.length > remembered) this.#doneMs.shift();
  }

  /** Requests per wall second, falling while none is finished; null before the second. */
  perSecond(nowMs: number): number | null {
    const [first] = this.#doneMs;
    if (first === undefined || this.#doneMs.length < 2) return null;
    return ((this.#doneMs.length - 1) * 1000) / Math.max(1, nowMs - first);
  }
}

/** Answers per second of each model. */
export class ServiceRates {
  readonly #rates = new Map<string, ServiceRate>();

  /** An engine of `model` has answered. */
  answered(model: string): void {
    const rate = this.#rates.get(model) ?? new ServiceRate();
    this.#rates.set(model, rate);
    rate.done(performance.now());
  }

  /** Wall seconds, whole and at least 1, until `queued` requests that any of these models may serve are served at their recent rate. */
  estimateQueueWaitSeconds(models: readonly string[], queued: number): number {
    const nowMs = performance.now();
    const perSecond = models.reduce((sum, model) => sum + (this.#rates.get(model)?.perSecond(nowMs) ?? 0), 0);
    const seconds = perSecond === 0 ? unknownRetrySeconds : queued / perSecond;
    return Math.min(longestRetrySeconds, Math.max(1, Math.ceil(seconds)));
  }

  /** Forgets all models but these. */
  keep(models: readonly string[]): void {
    for (const model of this.#rates.keys()) if (!models.includes(model)) this.#rates.delete(model);
  }
}
