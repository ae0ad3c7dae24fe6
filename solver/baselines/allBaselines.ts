import type { StartBelow } from "../plan/directStart";
import type { OutcomeTable } from "../workload/workload";
import { cascadeServe } from "./cascadeServe";
import { routerBeforeAnswering } from "./routerBeforeAnswering";
import type { BaselineSituation } from "./situation";
import { standAlone } from "./standAlone";
import type { Baseline } from "./system";
import { uniformAllocation, uniformParallelism } from "./uniform";

/**
 * How well a prompt alone predicts whether a model will be right, as AUC. Words of the prompt (TF-IDF) reach .55 to .69 on the public
 * outcome tables. A modelled router of the upper end is an upper bound: its errors are independent of the prompt, so it knows of one
 * model's answer what no prompt reveals. 1 is the oracle.
 */
export const PROMPT_AUC = 0.69;

/** A baseline under the name of its kind. */
export interface KindOfBaseline {
  readonly kind: string;
  readonly baseline: Baseline;
}

const TRAINED_ROUTER = "trained router";

/** The kind of the router that knows which answers are right: a bound, which no system reaches. */
export const ORACLE = "oracle router";

/** The kind of the router with modelled scores, which know what no prompt reveals: an upper bound too. */
export const MODELLED_ROUTER = "router";

/** Number of baselines from `allBaselines` for a ladder of so many models. */
export const countOfBaselines = (models: number): number => models + 6;

/**
 * Every baseline of the source for a plan, made lazily one after another: each model alone, the load-only cascade, the plan
 * with one decision removed at a time, and routers before answering: a trained one, a modelled one and the oracle.
 *
 * @param situation `trained`: the outcome table with a trained predictor's out-of-fold scores as `routerScore`; else why there are none, in a
 * sentence.
 * @param plan stages as indices into the explorer's models.
 */
export function* allBaselines(
  situation: BaselineSituation & { readonly trained: OutcomeTable | string },
  plan: { readonly stages: readonly number[]; readonly thresholds: readonly number[]; readonly startBelow: StartBelow },
): Generator<KindOfBaseline, void> {
  let smallest = true;
  for (const model of situation.explorer.input.sample.models.keys()) {
    const baseline = standAlone(situation, model);
    const first = smallest && baseline.outcome === "system";
    if (first) smallest = false;
    yield { kind: first ? "stand-alone" : "larger stand-alone", baseline };
  }
  yield { kind: "CascadeServe", baseline: cascadeServe(situation) };
  yield { kind: "uniform parallelism", baseline: keepsTheStart("uniform parallelism") ?? uniformParallelism(situation, plan) };
  yield { kind: "uniform allocation", baseline: keepsTheStart("uniform allocation") ?? uniformAllocation(situation, plan) };
  yield { kind: TRAINED_ROUTER, baseline: trainedRouter() };
  yield { kind: MODELLED_ROUTER, baseline: routerBeforeAnswering(situation, { kind: "modelled", auc: PROMPT_AUC }) };
  yield { kind: ORACLE, baseline: routerBeforeAnswering(situation, { kind: "modelled", auc: 1 }) };

  function trainedRouter(): Baseline {
    const { trained } = situation;
    if (typeof trained === "string") return { outcome: "none", name: TRAINED_ROUTER, reason: trained };
    return routerBeforeAnswering(situation, { kind: "trained", outcomes: trained });
  }

  /** The source's ablations have no later start, and a plan's thresholds mean little without its own. */
  function keepsTheStart(name: string): Baseline | null {
    if (plan.startBelow === 0) return null;
    return { outcome: "none", name, reason: "The plan lets a router start requests at a later stage, which this baseline does not know." };
  }
}
