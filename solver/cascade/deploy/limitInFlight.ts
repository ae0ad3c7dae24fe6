import { MAX_SEQUENCES, type ShapedReplica } from "@/solver/hardware/replicaShapes";
import type { Explorer } from "../explore/explorer";
import type { DeployedStage } from "./deployedStage";

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
    const most = mostInFlight(own);
    const limits = new Set(stage.replicas.map(({ gpu }) => gpu)).size > 1 ? byShare(stage, most) : byCache(stage, own, row.heldTokens());
    return { ...stage, groups: stage.groups.map((group, index) => ({ ...group, maxInFlight: limits[index] ?? most })) };
  });
}

/** An engine with as many requests as it runs stands idle while its front end takes in the next: it holds some more. */
const IN_FLIGHT_A_SEQUENCE = 2;

/** Requests that one replica holds at once at most: what is beyond waits where the policy orders it. */
function mostInFlight(shapes: readonly ShapedReplica[]): number {
  const sequences = Math.max(1, ...shapes.map(({ replica }) => replica.maxSequences));
  return shapes.length === 0 ? MAX_SEQUENCES : Math.min(MAX_SEQUENCES, IN_FLIGHT_A_SEQUENCE * sequences);
}

function byShare({ groups }: DeployedStage, most: number): readonly number[] {
  const largest = Math.max(...groups.map(({ shareEach }) => shareEach));
  return groups.map(({ shareEach }) => Math.max(1, Math.round((most * shareEach) / largest)));
}

function byCache({ replicas }: DeployedStage, shapes: readonly ShapedReplica[], heldTokens: number): readonly number[] {
  return replicas.map(({ shape }) => {
    const kvTokens = shapes.find((candidate) => candidate.shape === shape)?.replica.kvTokens ?? 0;
    return Math.max(1, Math.min(mostInFlight(shapes), Math.floor(kvTokens / heldTokens)));
  });
}
