import type { SlackPolicy } from "@/solver/plan/policySchema";
import { intersection, meet } from "@/solver/workflow/configurationSet";
import type { WorthTerms } from "../core/roundsView";
import { mostLoadWithin } from "../routes/slackChoice";
import type { ModelEngines } from "./modelEngines";
import type { ProgramConfigurations } from "./programConfigurations";
import type { StagedWork } from "./roundQueue";
import type { RoundSingles } from "./roundSingles";
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
  /** Where single requests have slack dispatch: the slack of their latency, and confidences without a router's score. Else null. */
  readonly slack: Pick<SlackPolicy, "models" | "tau" | "floorSeconds"> | null;
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
  private readonly ownSeconds: Float64Array;
  private readonly othersSeconds: Float64Array;
  private readonly tokens: Float64Array;
  /** By the configurations left to a program, what each choice of a model leaves to its other agents. */
  private readonly leaves = new WeakMap<Uint32Array, Map<number, Uint8Array>>();

  private readonly engines: readonly ModelEngines[];
  private readonly weights: WorthWeights;
  private readonly singles: RoundSingles | null;
  private readonly slack: WorthChoiceParts["slack"];

  constructor({ engines, meanOutputTokens, weights, singles, slack }: WorthChoiceParts) {
    this.engines = engines;
    this.weights = weights;
    this.singles = singles;
    this.slack = slack;
    this.waiting = new Int32Array(engines.length);
    this.waited = new Int32Array(engines.length);
    this.ownSeconds = new Float64Array(engines.length);
    this.othersSeconds = new Float64Array(engines.length);
    this.tokens = Float64Array.from(meanOutputTokens);
  }

  /** A new round begins. */
  begin(): void {
    [this.waiting, this.waited] = [this.waited, this.waiting];
    this.waiting.fill(0);
    for (const model of this.engines.keys()) this.changed(model);
  }

  /** A request was sent to the model, or waits for it. */
  changed(model: number): void {
    const own = this.engines[model];
    if (own === undefined) return;
    const ahead = this.waiting[model] ?? 0;
    this.ownSeconds[model] = own.secondsPerToken(ahead);
    const { delayWeight } = this.weights;
    const { running, waiting } = own.delayPerToken(Math.max(ahead, this.waited[model] ?? 0));
    this.othersSeconds[model] = Math.min(1, delayWeight) * running + delayWeight * waiting;
  }

  /** The request waits for the model in this round. */
  waits(model: number): void {
    this.waiting[model] = (this.waiting[model] ?? 0) + 1;
    this.changed(model);
  }

  /**
   * The model of highest worth among those allowed, as bits; the smallest of equals. -1 where none is allowed, or no replica of any takes
   * work.
   *
   * @param out models that are not there, as bits.
   */
  choose(one: StagedWork, allowed: number, out: number): number {
    let best = -1;
    let most = Number.NEGATIVE_INFINITY;
    const mostSeconds = this.mostSeconds(one, allowed);
    for (let model = 0; model < this.engines.length; model += 1) {
      if (!this.mayTake(allowed, model) || this.latencySeconds(one, model) > mostSeconds) continue;
      const worth = worthOf(this.terms(one, model, out));
      if (worth <= most) continue;
      most = worth;
      best = model;
    }
    return best;
  }

  /** The terms of a model for a request. */
  terms(one: StagedWork, model: number, out: number): WorthTerms {
    const tokens = this.tokensOf(one, model);
    return {
      surenessSeconds: this.weights.rightSeconds * this.sure(one, model),
      latencySeconds: this.latencySeconds(one, model),
      priceSeconds: tokens * (this.othersSeconds[model] ?? 0),
      restSeconds: one.program === null ? this.laterStages(one, model) : this.laterAgents(one.program, one.agent, model, out),
    };
  }

  private mayTake(allowed: number, model: number): boolean {
    return (allowed & (1 << model)) !== 0 && this.ownSeconds[model] !== Number.POSITIVE_INFINITY;
  }

  private latencySeconds(one: StagedWork, model: number): number {
    return this.tokensOf(one, model) * (this.ownSeconds[model] ?? 0);
  }

  /** The longest latency that a model may have for the request: within the slack of the least where it has slack dispatch, else any. */
  private mostSeconds(one: StagedWork, allowed: number): number {
    if (this.slack === null || one.program !== null) return Number.POSITIVE_INFINITY;
    let least = Number.POSITIVE_INFINITY;
    for (let model = 0; model < this.engines.length; model += 1)
      if (this.mayTake(allowed, model)) least = Math.min(least, this.latencySeconds(one, model));
    return mostLoadWithin(least, this.slack);
  }

  /**
   * The chance that the model answers right, 0..1: 1 for an accurate configuration; for a single request the router's score, without one the
   * confidence that slack dispatch states, else 0.
   */
  private sure({ work, program }: StagedWork, model: number): number {
    if (program !== null) return 1;
    const name = this.singles?.nameOf(model) ?? "";
    const score = work.evidence?.routerScores(name);
    return score === undefined ? (this.slack?.models.find((own) => own.model === name)?.confidence ?? 0) : score / 100;
  }

  /** Predicted output tokens of the request there: the model's mean, in proportion to a single request's own prediction. */
  private tokensOf({ work, program }: StagedWork, model: number): number {
    const mean = this.tokens[model] ?? 0;
    if (program !== null || work.predictedTokens === undefined) return mean;
    const asked = this.tokens[this.singles?.modelAt(work.stage) ?? this.tokens.length - 1] ?? mean;
    return asked === 0 ? mean : (work.predictedTokens * mean) / asked;
  }

  /** Time and price of a token on a model. */
  private secondsOn(model: number): number {
    return (this.tokens[model] ?? 0) * ((this.ownSeconds[model] ?? 0) + (this.othersSeconds[model] ?? 0));
  }

  /** Expected time, with its price, of the stages after this one, for a single request. */
  private laterStages({ work }: StagedWork, model: number): number {
    const { singles } = this;
    return singles === null ? 0 : singles.secondsAfter(singles.stageFor(work, model), (each) => this.secondsOn(each));
  }

  /** The least time, with its price, of the agents of a program that have no model yet, if this one gets the model. */
  private laterAgents(program: ProgramConfigurations, agent: number, model: number, out: number): number {
    let rest = 0;
    for (const [other, allowed] of this.leftTo(program, agent, model, out).entries()) {
      if (other === agent || (program.chosen[other] ?? -1) >= 0) continue;
      let least = Number.POSITIVE_INFINITY;
      for (let each = 0; each < this.engines.length; each += 1)
        if ((allowed & (1 << each)) !== 0) least = Math.min(least, this.secondsOn(each));
      rest += least;
    }
    return rest;
  }

  /** The models that each agent may have after one of them gets a model, as bits. */
  private leftTo(program: ProgramConfigurations, agent: number, model: number, out: number): Uint8Array {
    const left = program.leftWithout(out);
    let known = this.leaves.get(left);
    if (known === undefined) {
      known = new Map();
      this.leaves.set(left, known);
    }
    const key = agent * this.engines.length + model;
    const seen = known.get(key);
    if (seen !== undefined) return seen;
    const { having } = program.workflow.space;
    const narrowed = intersection(left, having[agent]?.[model] ?? left);
    const allowed = Uint8Array.from(having, (models) =>
      models.reduce((bits, words, each) => (meet(narrowed, words) ? bits | (1 << each) : bits), 0),
    );
    known.set(key, allowed);
    return allowed;
  }
}
