import type { StartBelow } from "../plan/directStart";
import { cascadeServe } from "./cascadeServe";
import { PROMPT_AUC, routerBeforeAnswering } from "./routerBeforeAnswering";
import type { BaselineSituation } from "./situation";
import { standAlone } from "./standAlone";
import type { Baseline } from "./system";
import { uniformAllocation, uniformParallelism } from "./uniform";

/** A baseline under the name of its kind. */
export interface KindOfBaseline {
  readonly kind: string;
  readonly baseline: Baseline;
}

/** The kind of the router that knows which answers are right: a bound, which no system reaches. */
export const ORACLE = "oracle router";

/** Number of baselines from `allBaselines` for a ladder of so many models. */
export const countOfBaselines = (models: number): number => models + 5;

/**
 * Every baseline of the source for a plan, made lazily one after another: each model alone, the load-only cascade, the plan
 * with one decision removed at a time, and routers before answering.
 *
 * @param plan stages as indices into the explorer's models.
 */
export function* allBaselines(
  situation: BaselineSituation,
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
  yield { kind: "router", baseline: routerBeforeAnswering(situation, PROMPT_AUC) };
  yield { kind: ORACLE, baseline: routerBeforeAnswering(situation, 1) };

  /** The source's ablations have no later start, and a plan's thresholds mean little without its own. */
  function keepsTheStart(name: string): Baseline | null {
    if (plan.startBelow === 0) return null;
    return { outcome: "none", name, reason: "The plan lets a router start requests at a later stage, which this baseline does not know." };
  }
}
