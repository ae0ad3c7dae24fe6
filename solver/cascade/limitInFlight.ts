import { MAX_SEQUENCES, type ShapedReplica } from "../hardware/replicaShapes";
import type { DeployedStage } from "./deployedStage";
import type { Explorer } from "./explore";

/**
 * Deployed stages with the limit of each replica: the requests that it may hold at once. What is beyond waits in the gateway, where the
 * next replica that has room takes it.
 *
 * On one GPU type as many as its cache holds, so that none waits at a full replica while another has room. On several types replicas
 * differ in speed: theirs are in proportion to the shares of the load they are planned with, so that the least loaded relative to it
 * takes just that share and all have the same latency. A model that is kept without load has no limit of its own.
 */
export function limitInFlight(explorer: Explorer, routing: number, stages: readonly DeployedStage[]): readonly DeployedStage[] {
  const { sample, shapes, judgeEngine } = explorer.input;
  const rows = explorer.rows(explorer.routing(routing));
  return stages.map((stage) => {
    const row = rows.find(({ model }) => model === stage.model);
    if (row === undefined) return stage;
    const own = stage.model === judgeEngine?.model ? judgeEngine.shapes : (shapes[sample.models.indexOf(stage.model)] ?? []);
    const limits = new Set(stage.replicas.map(({ gpu }) => gpu)).size > 1 ? byShare(stage) : byCache(stage, own, row.heldTokens());
    return { ...stage, groups: stage.groups.map((group, index) => ({ ...group, maxInFlight: limits[index] ?? MAX_SEQUENCES })) };
  });
}

function byShare({ groups }: DeployedStage): readonly number[] {
  const largest = Math.max(...groups.map(({ shareEach }) => shareEach));
  return groups.map(({ shareEach }) => Math.max(1, Math.round((MAX_SEQUENCES * shareEach) / largest)));
}

function byCache({ replicas }: DeployedStage, shapes: readonly ShapedReplica[], heldTokens: number): readonly number[] {
  return replicas.map(({ shape }) => {
    const kvTokens = shapes.find((candidate) => candidate.shape === shape)?.replica.kvTokens ?? 0;
    return Math.max(1, Math.min(MAX_SEQUENCES, Math.floor(kvTokens / heldTokens)));
  });
}
