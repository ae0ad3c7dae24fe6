import type { WorthTerms } from "../core/roundsView";
import type { ModelEngines } from "./modelEngines";
import type { ProgramConfigurations } from "./programConfigurations";
import type { StagedWork } from "./roundQueue";
import type { RoundSingles } from "./roundSingles";
import type { TokenPrices } from "./tokenPrices";
import { worthOf } from "./worth";

/** The weights of a worth. */
export interface WorthWeights {
  /** Seconds that a right answer is worth more than a wrong one. */
  readonly rightSeconds: number;
  /**
   * How much of the delay that a request causes others counts: 0 none, 1 as much as its own. Above 1 for those that wait, since those that
   * come before the queue is empty again are delayed too; those that run are never more than the batch holds.
   */
  readonly delayWeight: number;
}

interface WorthChoiceParts {
  readonly engines: readonly ModelEngines[];
  /** By model, output tokens of a request there. */
  readonly meanOutputTokens: readonly number[];
  readonly weights: WorthWeights;
  readonly singles: RoundSingles | null;
  /** null: tokens have no price. */
  readonly prices: TokenPrices | null;
  /** Whether single requests have predicted lengths: without a predictor all that is known of one is its client's own limit. */
  readonly readsLengths: boolean;
}

/**
 * Chooses models one request after another, in the order in which they are served: each takes its model of highest worth, among free ones and
 * those that it would have to wait for. A request that waits for a model makes that model's queue longer for those after it, which may
 * then be better off elsewhere. Nothing is bound: the next round chooses again.
 */
export class WorthChoice {
  /** By model, requests of this round that wait for it; and of the last round. */
  private waiting: Int32Array;
  private waited: Int32Array;
  /** By model, seconds of a token of one more request, and the wait for a slot before the first: that of mean answers, however long its own. */
  private readonly ownSeconds: Float64Array;
  private readonly waitSeconds: Float64Array;
  private readonly othersSeconds: Float64Array;
  /** By model, the price of a token in this round. */
  private priceSeconds: Float64Array;
  private readonly tokens: Float64Array;
  /** Latency of a mean answer of each model, and its price; NaN where no replica takes work: nobody knows for how long. */
  private readonly answerSeconds: Float64Array;
  private readonly answerPriceSeconds: Float64Array;
  /** By a set of models as bits, the one of the least latency and price together: -1 where no replica of any takes work, -2 where it is not computed. */
  private readonly leastModel: Int8Array;
  /** By agent of the program that is weighed, the longest path up to its end. */
  private endSeconds = new Float64Array(0);
  /** Models whose times have changed since they were computed, as bits. */
  private stale = 0;
  private readonly filled = { surenessSeconds: 0, latencySeconds: 0, priceSeconds: 0, planPriceSeconds: 0, restSeconds: 0 };

  constructor(private readonly parts: WorthChoiceParts) {
    const { engines, meanOutputTokens } = parts;
    this.waiting = new Int32Array(engines.length);
    this.waited = new Int32Array(engines.length);
    this.ownSeconds = new Float64Array(engines.length);
    this.waitSeconds = new Float64Array(engines.length);
    this.othersSeconds = new Float64Array(engines.length);
    this.priceSeconds = new Float64Array(engines.length);
    this.tokens = Float64Array.from(meanOutputTokens);
    this.answerSeconds = new Float64Array(engines.length);
    this.answerPriceSeconds = new Float64Array(engines.length);
    this.leastModel = new Int8Array(1 << engines.length);
  }

  /** A new round begins. */
  begin(nowSeconds: number): void {
    const { prices } = this.parts;
    if (prices !== null) this.priceSeconds = prices.at(nowSeconds);
    [this.waiting, this.waited] = [this.waited, this.waiting];
    this.waiting.fill(0);
    this.stale = (1 << this.parts.engines.length) - 1;
  }

  /** A request was sent to the model, or held back there. */
  changed(model: number): void {
    this.stale |= 1 << model;
  }

  /** Computes anew what has changed since. */
  private refresh(): void {
    for (let model = 0; this.stale !== 0; model += 1) {
      if ((this.stale & (1 << model)) !== 0) this.refreshModel(model);
      this.stale &= ~(1 << model);
    }
  }

  private refreshModel(model: number): void {
    const own = this.parts.engines[model];
    if (own === undefined) return;
    const ahead = this.waiting[model] ?? 0;
    this.ownSeconds[model] = own.secondsPerToken(ahead);
    const { delayWeight } = this.parts.weights;
    const { running, waiting } = own.delayPerToken(Math.max(ahead, this.waited[model] ?? 0));
    const others = Math.min(1, delayWeight) * running + delayWeight * waiting;
    this.othersSeconds[model] = others;
    const tokens = this.tokens[model] ?? 0;
    const each = this.ownSeconds[model] ?? Number.POSITIVE_INFINITY;
    const isThere = each < Number.POSITIVE_INFINITY;
    const wait = isThere ? tokens * own.waitPerToken(ahead) : Number.NaN;
    this.waitSeconds[model] = wait;
    this.answerSeconds[model] = wait + tokens * each;
    this.answerPriceSeconds[model] = isThere ? tokens * (others + (this.priceSeconds[model] ?? 0)) : Number.NaN;
    this.leastModel.fill(UNKNOWN);
  }

  /** By model, requests that have chosen it in this round and wait for it. */
  get backlog(): ArrayLike<number> {
    return this.waiting;
  }

  /** The request waits for the model in this round. */
  waits(model: number): void {
    this.waiting[model] = (this.waiting[model] ?? 0) + 1;
    this.stale |= 1 << model;
  }

  /**
   * The model of highest worth among those allowed, as bits; the smallest of equals. -1 where none is allowed, or no replica of any takes
   * work.
   *
   * @param out models that are not there, as bits.
   */
  choose(one: StagedWork, allowed: number, out: number): number {
    this.refresh();
    const only = onlyModel(allowed);
    if (only >= 0) return this.ownSeconds[only] === Number.POSITIVE_INFINITY ? -1 : only;
    let best = -1;
    let most = Number.NEGATIVE_INFINITY;
    for (let model = 0; model < this.parts.engines.length; model += 1) {
      if ((allowed & (1 << model)) === 0 || this.ownSeconds[model] === Number.POSITIVE_INFINITY) continue;
      const worth = worthOf(this.fill(one, model, out));
      if (worth <= most) continue;
      most = worth;
      best = model;
    }
    return best;
  }

  /** The terms of a model for a request, as `choose` weighed them last. */
  terms(one: StagedWork, model: number, out: number): WorthTerms {
    return { ...this.fill(one, model, out) };
  }

  /** The terms in an object that the next call fills again: hundreds of requests are weighed in a decision. */
  private fill(one: StagedWork, model: number, out: number): WorthTerms {
    const { filled } = this;
    const tokens = this.lengthFactor(one) * (this.tokens[model] ?? 0);
    filled.surenessSeconds = this.parts.weights.rightSeconds * this.rightChance(one, model);
    filled.latencySeconds = (this.waitSeconds[model] ?? 0) + tokens * (this.ownSeconds[model] ?? 0);
    filled.priceSeconds = tokens * (this.othersSeconds[model] ?? 0);
    filled.planPriceSeconds = tokens * (this.priceSeconds[model] ?? 0);
    filled.restSeconds =
      one.program === null
        ? this.laterStages(one, model)
        : this.laterAgents(one.program, one.agent, { model, out, ownSeconds: filled.latencySeconds });
    return filled;
  }

  /** The chance that the model answers right, 0..1: 1 for an accurate configuration, a router's score for a single request, else 0. */
  private rightChance({ work, program }: StagedWork, model: number): number {
    if (program !== null) return 1;
    return (work.evidence?.routerScores(this.parts.singles?.nameOf(model) ?? "") ?? 0) / 100;
  }

  /** How much longer than the mean a single request's answers are predicted to be; 1 without a prediction, and for calls. */
  private lengthFactor({ work, program }: StagedWork): number {
    if (!this.parts.readsLengths || program !== null || work.predictedTokens === undefined) return 1;
    const mean = this.tokens[this.parts.singles?.modelAt(work.stage) ?? this.tokens.length - 1] ?? 0;
    return mean === 0 ? 1 : work.predictedTokens / mean;
  }

  /** Of the models given as bits, the one whose mean answer has the least latency and price together; -1 where no replica of any takes work. */
  private leastOf(models: number): number {
    const known = this.leastModel[models] ?? UNKNOWN;
    if (known !== UNKNOWN) return known;
    let [least, best] = [Number.POSITIVE_INFINITY, -1];
    for (let model = 0; model < this.answerSeconds.length; model += 1) {
      const seconds = (this.answerSeconds[model] ?? Number.NaN) + (this.answerPriceSeconds[model] ?? Number.NaN);
      if ((models & (1 << model)) === 0 || !(seconds < least)) continue;
      least = seconds;
      best = model;
    }
    this.leastModel[models] = best;
    return best;
  }

  /** Expected time, with its price, of the stages after this one, for a single request. */
  private laterStages(one: StagedWork, model: number): number {
    const { singles } = this.parts;
    if (singles === null) return 0;
    const factor = this.lengthFactor(one);
    const secondsOf = (each: number): number => {
      const wait = this.waitSeconds[each] ?? 0;
      return wait + factor * ((this.answerSeconds[each] ?? 0) - wait + (this.answerPriceSeconds[each] ?? 0)) || 0;
    };
    return singles.secondsAfter(singles.stageFor(one.work, model), secondsOf);
  }

  /**
   * What a program takes beyond the agent's own latency, if this gets the model: the longest path through the agents that have no model yet,
   * each on the model of least latency and price that the choice leaves it, less the own latency; and the prices of all of them. Latencies of
   * agents beside this one overlap with its own, their prices add up.
   */
  private laterAgents(
    program: ProgramConfigurations,
    agent: number,
    { model, out, ownSeconds }: { readonly model: number; readonly out: number; readonly ownSeconds: number },
  ): number {
    const { chosen } = program;
    const { reads } = program.workflow.space;
    if (this.endSeconds.length < chosen.length) this.endSeconds = new Float64Array(chosen.length);
    let [longest, price] = [0, 0];
    for (let each = 0; each < chosen.length; each += 1) {
      let end = 0;
      for (const read of reads[each] ?? []) end = Math.max(end, this.endSeconds[read] ?? 0);
      if (each === agent) end += ownSeconds;
      else if ((chosen[each] ?? -1) < 0) {
        const least = this.leastOf(program.allowedAfter(agent, model, { other: each, out }));
        end += this.answerSeconds[least] ?? 0;
        price += this.answerPriceSeconds[least] ?? 0;
      }
      this.endSeconds[each] = end;
      longest = Math.max(longest, end);
    }
    return longest - ownSeconds + price;
  }
}

/** Of a set of models whose least is not computed. */
const UNKNOWN = -2;

/** The one model of a set given as bits; -1 where there are none or several. */
export const onlyModel = (models: number): number => (models !== 0 && (models & (models - 1)) === 0 ? 31 - Math.clz32(models) : -1);
