import { allocateExactly } from "../cascade/deploy/allocateExactly";
import type { Explorer } from "../cascade/explore/explorer";
import { createLatencyTables } from "../cascade/tables/latencyTables";
import { type BaselineSituation, placed } from "./situation";
import type { Baseline, System } from "./system";
import { atSustainedRate, tunedStage } from "./tuning";

/** The planner's own plan, from which one decision at a time is removed. */
interface Planned {
  readonly stages: readonly number[];
  readonly thresholds: readonly number[];
}

/**
 * The plan's cascade and thresholds with equal GPUs for every stage, the remainder left idle; replicas tuned for each stage's
 * own requests (Cascadia, section 4.3, ablation ii).
 */
export function uniformAllocation({ explorer, nodes }: BaselineSituation, plan: Planned): Baseline {
  const { sample, maxGpus, requestsPerSecond } = explorer.input;
  const name = "uniform allocation";
  const gpus = Math.floor(maxGpus / plan.stages.length);
  const { routed } = explorer.outlook(plan.stages, plan.thresholds);
  const mixes = explorer.mixes({ ...plan, routed });
  const stages = plan.stages.flatMap((model, stage) => {
    const mix = mixes[stage];
    if (mix === undefined) return [];
    const id = sample.models[model] ?? "";
    return tunedStage(id, explorer.tables.exact(model, mix), { requestsPerSecond: requestsPerSecond * mix.share, gpus }) ?? [];
  });
  if (stages.length < plan.stages.length)
    return { outcome: "none", name, reason: `On ${gpus} GPUs each, no replica of one of the models fits.` };
  return placed({ name, stages, routing: { kind: "cascade", thresholds: plan.thresholds } }, nodes);
}

/**
 * The plan's cascade and thresholds with one parallelism for all models: tensor parallelism inside a node, as wide as every model of
 * the cascade allows, and parallel replicas of it (Cascadia, section 4.3, ablation i). GPUs are allocated as by the planner,
 * on tables of that shape only.
 */
export function uniformParallelism({ explorer, nodes }: BaselineSituation, plan: Planned): Baseline {
  const { sample, shapes, maxGpus, requestsPerSecond } = explorer.input;
  const name = "uniform parallelism";
  const widths = plan.stages.map((model) => (shapes[model] ?? []).filter(({ shape }) => shape.pp === 1).map(({ shape }) => shape.tp));
  const common = (widths[0] ?? []).filter((tp) => widths.every((own) => own.includes(tp)));
  if (common.length === 0) return { outcome: "none", name, reason: "No tensor parallelism suits all models of the cascade." };
  const tp = Math.max(...common);
  const tables = createLatencyTables({
    ...explorer.input,
    shapes: shapes.map((own) => own.filter(({ shape }) => shape.pp === 1 && shape.tp === tp)),
  });
  const { routed } = explorer.outlook(plan.stages, plan.thresholds);
  const mixes = explorer.mixes({ ...plan, routed });
  const own = mixes.map((mix, stage) => tables.exact(plan.stages[stage] ?? 0, mix));
  const routing = explorer.add(plan.stages, plan.thresholds);
  const deployed = atSustainedRate<System["stages"]>(requestsPerSecond, (rate) => {
    const slower: Explorer = {
      ...explorer,
      rows: (of) => explorer.rows(of).map((row) => ({ ...row, requestsPerSecond: (row.requestsPerSecond * rate) / requestsPerSecond })),
    };
    const gpus = allocateExactly({ explorer: slower, routing, tables: own }, { gpus: maxGpus, latency: "end-to-end" })?.gpus;
    if (gpus === undefined) return null;
    return own.flatMap((table, stage) => {
      const id = sample.models[plan.stages[stage] ?? 0] ?? "";
      return tunedStage(id, table, { requestsPerSecond: rate * (mixes[stage]?.share ?? 0), gpus: gpus[stage] ?? 0 }) ?? [];
    });
  });
  if (deployed === null || deployed.length < plan.stages.length)
    return { outcome: "none", name, reason: `With tp ${tp} for all, ${maxGpus} GPUs do not hold every model of the cascade.` };
  return placed({ name, stages: deployed, routing: { kind: "cascade", thresholds: plan.thresholds } }, nodes);
}
