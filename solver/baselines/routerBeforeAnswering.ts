import { qualityLowerBound, selectionCritical } from "../cascade/routing/qualityBound";
import { type PlanningSample, planningSample } from "../cascade/routing/routing";
import { product, usefulThresholds } from "../cascade/routing/routingGrid";
import type { Mix } from "../cascade/tables/mix";
import { minMaxAllocation } from "../milp/bisection";
import { mixSeed } from "../numeric/random";
import { withRouterScores } from "../workload/modelledRouter";
import type { OutcomeTable } from "../workload/workload";
import { cascadesOf, evenly } from "./cascades";
import { routedOnce } from "./measure";
import { type BaselineSituation, placed } from "./situation";
import type { Baseline, SystemStage } from "./system";
import { atSustainedRate, stageSeconds, tunedStage } from "./tuning";

/** The router of a baseline: modelled with an AUC, or trained, whose out-of-fold scores the table has as `routerScore`. */
export type BaselineRouter =
  | { readonly kind: "modelled"; readonly auc: number }
  | { readonly kind: "trained"; readonly outcomes: OutcomeTable };

/** Approximate number of threshold vectors tried over all sets of models; the bound on quality is calibrated over them. */
const ROUTINGS = 140;

/** A setting of the router with its results on the planning half. */
interface Setting {
  readonly stages: readonly number[];
  readonly thresholds: readonly number[];
  readonly mixes: readonly Mix[];
  readonly accepted: Float64Array;
  readonly quality: number;
  readonly cost: number;
}

/**
 * A router that predicts from the prompt which model to use, for two and more models (as RouteLLM; Cascadia, appendix I):
 * a request goes to the smallest model whose predicted score reaches its threshold, else to the largest. No judging, one model per
 * request. Scores are out-of-fold ones of trained heads, or modelled: a noisy prediction of the model's own label with the stated AUC.
 *
 * Thresholds and set of models are selected for the least largest p95 on the planner's tables among those that meet the floor,
 * with a bound calibrated over the router's own settings; replicas are tuned on tables of each model's own requests ("we tune the
 * deployment for each model for RouteLLM").
 */
export function routerBeforeAnswering(situation: BaselineSituation, router: BaselineRouter): Baseline {
  const { explorer, floor, nodes, outcomes, planning } = situation;
  const { sample, requestsPerSecond, maxGpus, qualityConfidence, seed } = explorer.input;
  const trained = router.kind === "trained";
  const name = trained ? "trained router" : router.auc === 1 ? "oracle router" : `modelled router of AUC ${router.auc}, an upper bound`;
  const prescored = trained ? router.outcomes : withRouterScores(outcomes, { auc: router.auc, seed });
  const settings = settingsOf(situation, planningSample(prescored, planning, sample.models));
  const critical = selectionCritical(settings, { confidence: qualityConfidence, seed: mixSeed(seed, "router bound") });
  const meeting = settings.filter((setting) => qualityLowerBound(setting, critical) >= floor);
  if (meeting.length === 0) return { outcome: "none", name, reason: `No thresholds reach a floor of ${floor}.` };
  const chosen = atSustainedRate(requestsPerSecond, (rate) => {
    const deployable = meeting.flatMap((setting) => {
      const near = setting.stages.map((model, stage) => explorer.tables.near(model, setting.mixes[stage] ?? everything(sample)));
      const scaled = setting.mixes.map((mix, stage) => ({ ...mix, share: mix.share * (near[stage]?.lengthFactor ?? 1) }));
      const seconds = stageSeconds(
        near.map(({ tables }) => tables),
        scaled,
        { requestsPerSecond: rate, gpus: maxGpus },
      ).map((table, stage) => table.map((value) => value * (near[stage]?.lengthFactor ?? 1)));
      const allocation = minMaxAllocation(seconds, maxGpus);
      return allocation === null ? [] : [{ setting, rate, ...allocation }];
    });
    return deployable.sort((a, b) => a.latencySeconds - b.latencySeconds)[0] ?? null;
  });
  if (chosen === null) return { outcome: "none", name, reason: `No setting sustains ${requestsPerSecond} requests/s.` };
  const { setting, gpus, rate } = chosen;
  const stages = setting.stages.flatMap((model, stage): readonly SystemStage[] => {
    const mix = setting.mixes[stage] ?? everything(sample);
    const tuned = tunedStage(sample.models[model] ?? "", explorer.tables.exact(model, mix), {
      requestsPerSecond: rate * mix.share,
      gpus: gpus[stage] ?? 0,
    });
    return tuned === null ? [] : [tuned];
  });
  const { thresholds } = setting;
  const routing = { kind: "router", trained, thresholds, prescored, qualityLow: qualityLowerBound(setting, critical) } as const;
  return placed({ name, stages, routing }, nodes);
}

const everything = ({ prompts }: PlanningSample): Mix => ({
  prompts: Int32Array.from({ length: prompts }, (_, prompt) => prompt),
  share: 1,
});

/** Settings on a grid over every set of two or more models, without those that leave a model without requests. */
function settingsOf({ explorer }: BaselineSituation, prescored: PlanningSample): Setting[] {
  const sets = cascadesOf(explorer.input, 2);
  return sets.flatMap((stages) => {
    const perStage = Math.max(3, Math.floor((ROUTINGS / sets.length) ** (1 / (stages.length - 1))));
    const choices = stages
      .slice(0, -1)
      .map((model) => evenly(usefulThresholds(prescored.routerScore?.[model] ?? new Float64Array()), perStage));
    return product(choices).flatMap((thresholds) => {
      const { exit, accepted, quality } = routedOnce(prescored, stages, thresholds);
      const mixes = stages.map((_, stage) => {
        const prompts = Int32Array.from(exit.keys()).filter((prompt) => exit[prompt] === stage);
        return { prompts, share: prompts.length / exit.length };
      });
      if (mixes.some(({ share }) => share === 0)) return [];
      const cost = mixes.reduce((sum, { share }, stage) => sum + share * gpuSecondsAlone(explorer.input.shapes[stages[stage] ?? 0]), 0);
      return [{ stages, thresholds, mixes, accepted, quality, cost }];
    });
  });
}

/** GPU time per token on a model's smallest replica: a proxy for a setting's cost, before tables exist. */
function gpuSecondsAlone(shapes: BaselineSituation["explorer"]["input"]["shapes"][number] | undefined): number {
  const smallest = shapes?.[0];
  return smallest === undefined
    ? Number.POSITIVE_INFINITY
    : smallest.replica.stepTime.decodeBaseSeconds(1) * smallest.shape.tp * smallest.shape.pp;
}
