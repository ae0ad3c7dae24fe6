import { allocateExactly } from "../cascade/deploy/allocateExactly";
import type { Explorer } from "../cascade/explore/explorer";
import { createRowTables } from "../cascade/tables/rowTables";
import type { ShapedReplica } from "../hardware/replicaShapes";
import { type BaselineSituation, choiceOf, gatedCascade, placed } from "./situation";
import type { Baseline, System } from "./system";
import { atSustainedRate, tunedStage } from "./tuning";

/** The planner's own plan, from which one decision at a time is removed. */
interface Planned {
  readonly stages: readonly number[];
  readonly thresholds: readonly number[];
}

/**
 * The plan's cascade and thresholds with equal GPUs for every stage, peer and a judge that is an engine, the remainder left idle; replicas
 * tuned for each one's own requests (Cascadia, section 4.3, ablation ii).
 */
export function uniformAllocation({ explorer, nodes }: BaselineSituation, plan: Planned): Baseline {
  const name = "uniform allocation";
  const { routed } = explorer.outlook(plan.stages, plan.thresholds);
  const rows = explorer.rows({ ...plan, routed });
  const gpus = Math.floor(explorer.input.maxGpus / rows.length);
  const deployed = rows.flatMap((row) => tunedStage(row.model, row.exact(), { requestsPerSecond: row.requestsPerSecond, gpus }) ?? []);
  if (deployed.length < rows.length)
    return { outcome: "none", name, reason: `On ${gpus} GPUs each, no replica of one of the models fits.` };
  return placed({ name, ...gatedCascade(explorer, plan, deployed) }, nodes);
}

/**
 * The plan's cascade and thresholds with one parallelism for all models: tensor parallelism inside a node, as wide as every model of
 * the cascade allows, and parallel replicas of it (Cascadia, section 4.3, ablation i). GPUs are allocated as by the planner,
 * on tables of that shape only.
 */
export function uniformParallelism({ explorer, nodes }: BaselineSituation, plan: Planned): Baseline {
  const { shapes, maxGpus, requestsPerSecond, gates, judgeEngine } = explorer.input;
  const name = "uniform parallelism";
  const { routed } = explorer.outlook(plan.stages, plan.thresholds);
  const choice = choiceOf(explorer);
  const widths = explorer.rows({ ...plan, routed }).map(({ model }) => {
    const deployable = choice.shapes[choice.models.indexOf(model)] ?? [];
    return deployable.filter(({ shape }) => shape.pp === 1).map(({ shape }) => shape.tp);
  });
  const common = (widths[0] ?? []).filter((tp) => widths.every((own) => own.includes(tp)));
  if (common.length === 0) return { outcome: "none", name, reason: "No tensor parallelism suits all models of the cascade." };
  const tp = Math.max(...common);
  const alike = (own: readonly ShapedReplica[]): readonly ShapedReplica[] => own.filter(({ shape }) => shape.pp === 1 && shape.tp === tp);
  const rows = createRowTables({
    ...explorer.input,
    shapes: shapes.map(alike),
    ...(judgeEngine === undefined ? {} : { judgeEngine: { ...judgeEngine, shapes: alike(judgeEngine.shapes) } }),
    ...(gates === undefined ? {} : { gates: { ...gates, peers: gates.peers.map((peer) => ({ ...peer, shapes: alike(peer.shapes) })) } }),
  }).rows({ ...plan, routed });
  const own = rows.map((row) => row.exact());
  const routing = explorer.add(plan.stages, plan.thresholds);
  const deployed = atSustainedRate<System["stages"]>(requestsPerSecond, (rate) => {
    const slower: Explorer = {
      ...explorer,
      rows: (of) => explorer.rows(of).map((row) => ({ ...row, requestsPerSecond: (row.requestsPerSecond * rate) / requestsPerSecond })),
    };
    const gpus = allocateExactly({ explorer: slower, routing, tables: own }, { gpus: maxGpus, latency: "end-to-end" })?.gpus;
    if (gpus === undefined) return null;
    return rows.flatMap(({ model, requestsPerSecond: calls }, row) => {
      const table = own[row];
      if (table === undefined) return [];
      return tunedStage(model, table, { requestsPerSecond: (calls * rate) / requestsPerSecond, gpus: gpus[row] ?? 0 }) ?? [];
    });
  });
  if (deployed === null || deployed.length < rows.length)
    return { outcome: "none", name, reason: `With tp ${tp} for all, ${maxGpus} GPUs do not hold every model of the cascade.` };
  return placed({ name, ...gatedCascade(explorer, plan, deployed) }, nodes);
}
