import type { TokenPriceDocument } from "@/solver/plan/policySchema";

/** Prices rise to at most so many times the planned ones: within that the planner's own candidates vary them too (`modelPrices.ts`). */
const MOST_CORRECTED = 4;

/** A plan by which fewer requests wait for a model counts as this many, so that the first one that waits does not multiply its price. */
const LEAST_PLANNED = 1;

/**
 * Prices of the models' output tokens for one moment: those of the plan, each corrected by its model's backlog,
 *
 *     lambda(m) = planned price * (requests that wait for m / requests planned to wait for it),  at most four times the planned price,
 *
 * where the number that waits is smoothed by an exponential of `dampingSeconds`. The backlog of a constraint is, scaled, an estimate of its
 * multiplier (drift plus penalty), and at the planned backlog this is the plan's. A model that nobody waits for is free. A request waits for
 * the model of highest worth at its turn; those that come after the last free slot of a round are not counted.
 */
export class TokenPrices {
  private readonly planned: Float64Array;
  private readonly plannedWaiting: Float64Array;
  private readonly dampingSeconds: number;
  /** The smoothed numbers at `since`, and the numbers that have been waiting from then on. */
  private smoothed: Float64Array;
  private waiting: Float64Array;
  private since = Number.NaN;

  /** @param models names, by the index of `at`. */
  constructor({ models: priced, dampingSeconds }: TokenPriceDocument, models: readonly string[]) {
    const ofModel = (model: string) => priced.find((own) => own.model === model) ?? { secondsPerToken: 0, waiting: 0 };
    this.planned = Float64Array.from(models, (model) => ofModel(model).secondsPerToken);
    this.plannedWaiting = Float64Array.from(models, (model) => Math.max(LEAST_PLANNED, ofModel(model).waiting));
    this.dampingSeconds = dampingSeconds;
    this.smoothed = new Float64Array(models.length);
    this.waiting = new Float64Array(models.length);
  }

  /** By model, seconds that one output token costs. */
  at(nowSeconds: number): Float64Array {
    const smoothed = this.smoothedAt(nowSeconds);
    return this.planned.map((price, model) => price * Math.min(MOST_CORRECTED, (smoothed[model] ?? 0) / (this.plannedWaiting[model] ?? 1)));
  }

  /**
   * By model, so many requests wait from now on. Decisions after which as many wait as before change nothing, so that prices do not depend on
   * how often a driver asks for decisions.
   */
  left(nowSeconds: number, waiting: ArrayLike<number>): void {
    if (this.waiting.every((before, model) => before === waiting[model])) return;
    this.smoothed = this.smoothedAt(nowSeconds);
    this.waiting = Float64Array.from(waiting);
    this.since = nowSeconds;
  }

  private smoothedAt(nowSeconds: number): Float64Array {
    if (Number.isNaN(this.since)) return this.smoothed;
    const share = Math.exp(-Math.max(0, nowSeconds - this.since) / this.dampingSeconds);
    return this.smoothed.map((before, model) => share * before + (1 - share) * (this.waiting[model] ?? 0));
  }
}
