import { createExplorer } from "../cascade/explore/explore";
import { planningSample } from "../cascade/routing/routing";
import type { StartBelow } from "../plan/directStart";
import { asksJudgeOn } from "../stageGates/stageGate";
import type { OutcomeTable } from "../workload/workload";
import { COMPLEXITY_BLIND, cascadeServe } from "./cascadeServe";
import { routerBeforeAnswering } from "./routerBeforeAnswering";
import type { BaselineSituation } from "./situation";
import { standAlone } from "./standAlone";
import { tunedStepBudget } from "./stepBudget";
import type { Baseline } from "./system";
import { uniformAllocation, uniformParallelism } from "./uniform";

/**
 * How well a prompt alone predicts whether a model will be right, as AUC. Words of the prompt (TF-IDF) reach .55 to .69 on the public
 * outcome tables. A modelled router of the upper end is an upper bound: its errors are independent of the prompt, so it knows of one
 * model's answer what no prompt reveals. 1 is the oracle.
 */
export const PROMPT_AUC = 0.69;

/** A baseline under the name of its kind. */
interface KindOfBaseline {
  readonly kind: string;
  readonly baseline: Baseline;
}

const TRAINED_ROUTER = "trained router";

/** The kind of the router that knows which answers are right: a bound, which no system reaches. */
export const ORACLE = "oracle router";

/** The kind of the router with modelled scores, which know what no prompt reveals: an upper bound too. */
export const MODELLED_ROUTER = "router";

const STAND_ALONE = "stand-alone";

/** The kind of a model alone with its step budget tuned. */
const STEP_BUDGET = "Sarathi-Serve";

/** A plan's stages as indices into the explorer's models, and its router scores. */
export interface PlannedCascade {
  readonly stages: readonly number[];
  readonly thresholds: readonly number[];
  readonly startBelow: StartBelow;
}

/** A kind of baseline, to be made at any rate. */
interface BaselineMaker {
  readonly kind: string;
  /** Whether it is the plan with one decision removed, and so another one under another plan. */
  readonly ablates?: true;
  make(situation: BaselineSituation, plan: PlannedCascade): Baseline;
}

/** Number of baselines from `allBaselines` for a ladder of so many models. */
export const countOfBaselines = (models: number): number => models + 7;

/**
 * Every baseline of the source: each model alone, the smallest also with its step budget tuned, the load-only cascade with and without
 * knowledge of the traffic's difficulty, the plan with one decision removed at a time, and routers before answering: a trained one, a
 * modelled one and the oracle.
 *
 * @param trained the outcome table with a trained predictor's out-of-fold scores as `routerScore`; else why there are none, in a sentence.
 */
export function baselineMakers(models: number, trained: OutcomeTable | string): readonly BaselineMaker[] {
  return [
    ...Array.from({ length: models }, (_, model) => ({ kind: STAND_ALONE, make: (own: BaselineSituation) => standAlone(own, model) })),
    { kind: STEP_BUDGET, make: smallestWithStepBudget },
    { kind: "CascadeServe", make: (own) => cascadeServe(own) },
    { kind: COMPLEXITY_BLIND, make: complexityBlind },
    {
      kind: "uniform parallelism",
      ablates: true,
      make: (own, plan) => keepsTheStart("uniform parallelism", plan) ?? uniformParallelism(own, plan),
    },
    {
      kind: "uniform allocation",
      ablates: true,
      make: (own, plan) => keepsTheStart("uniform allocation", plan) ?? uniformAllocation(own, plan),
    },
    { kind: TRAINED_ROUTER, make: trainedRouter },
    { kind: MODELLED_ROUTER, make: (own) => routerBeforeAnswering(own, { kind: "modelled", auc: PROMPT_AUC }) },
    { kind: ORACLE, make: (own) => routerBeforeAnswering(own, { kind: "modelled", auc: 1 }) },
  ];

  function trainedRouter(own: BaselineSituation): Baseline {
    if (typeof trained === "string") return { outcome: "none", name: TRAINED_ROUTER, reason: trained };
    return routerBeforeAnswering(own, { kind: "trained", outcomes: trained });
  }
}

/**
 * The baselines for a plan, made lazily one after another, without the one whose engines have a setting that no plan has. The first model
 * alone that meets the floor is the stand-alone one.
 */
export function* allBaselines(
  situation: BaselineSituation & { readonly trained: OutcomeTable | string },
  plan: PlannedCascade,
): Generator<KindOfBaseline, void> {
  const makers = baselineMakers(situation.explorer.input.sample.models.length, situation.trained);
  const made: KindOfBaseline[] = [];
  for (const { kind, make } of makers) {
    if (kind === STEP_BUDGET) continue;
    const baseline = make(situation, plan);
    const own = { kind: kindAmong(kind, made), baseline };
    if (baseline.outcome === "system") made.push(own);
    yield own;
  }
}

/** A model alone is a larger one where a smaller one has met the floor. */
export const kindAmong = (kind: string, systems: readonly { readonly kind: string }[]): string =>
  kind === STAND_ALONE && systems.some((one) => one.kind === STAND_ALONE) ? LARGER_STAND_ALONE : kind;

const LARGER_STAND_ALONE = "larger stand-alone";

/** The source's ablations have no later start, and a plan's thresholds mean little without its own. */
function keepsTheStart(name: string, plan: PlannedCascade): Baseline | null {
  if (plan.startBelow === 0) return null;
  return { outcome: "none", name, reason: "The plan lets a router start requests at a later stage, which this baseline does not know." };
}

/** The smallest model that meets the floor, with its step budget tuned. */
function smallestWithStepBudget(situation: BaselineSituation): Baseline {
  let made: Baseline = { outcome: "none", name: STEP_BUDGET, reason: "There is no model." };
  for (const model of situation.explorer.input.sample.models.keys()) {
    made = tunedStepBudget(situation, model);
    if (made.outcome === "system") return made;
  }
  return made;
}

/** Profiled on as many planning prompts of each category; none where there is one category, and no other traffic to know. */
function complexityBlind(situation: BaselineSituation): Baseline {
  const { explorer, outcomes, planning } = situation;
  const rows = situation.profiled ?? balancedRows(planning, outcomes.categories);
  if (rows === null)
    return {
      outcome: "none",
      name: COMPLEXITY_BLIND,
      reason: "Its prompts are of one category, so there is no other traffic it could be profiled on.",
    };
  // Other gates' samples are of the planning prompts.
  const { rivals: _, ...input } = explorer.input;
  const { models } = input.sample;
  const sample = planningSample(outcomes, rows, models);
  if (input.gates === undefined) return cascadeServe(situation, createExplorer({ ...input, sample }));
  const { gates } = input;
  const peers = gates.peers.map((peer) => ({
    ...peer,
    outputTokens: planningSample(outcomes, rows, [peer.model]).outputTokens[0] ?? new Int32Array(),
  }));
  const asksJudge = asksJudgeOn(gates.stages, models, rows);
  return cascadeServe(situation, createExplorer({ ...input, sample: { ...sample, asksJudge }, gates: { ...gates, peers } }));
}

/** As many rows of each category as the rarest has, ascending; null where there is only one. */
export function balancedRows(rows: Int32Array, categories: readonly string[]): Int32Array | null {
  const byCategory = new Map<string, number[]>();
  for (const row of rows) {
    const category = categories[row] ?? "";
    const own = byCategory.get(category) ?? [];
    byCategory.set(category, own);
    own.push(row);
  }
  if (byCategory.size < 2) return null;
  const each = Math.min(...[...byCategory.values()].map(({ length }) => length));
  return Int32Array.from([...byCategory.values()].flatMap((own) => own.slice(0, each))).sort();
}
