import type { Placement, RunningReplica } from "./clusterSpec";
import type { Plan } from "./plan";

/** The replicas of a plan one by one, as they run while it is active. */
export function runningReplicas({ deployment }: Pick<Plan, "deployment">): RunningReplica[] {
  return deployment.flatMap(({ model, replicas }) =>
    replicas.flatMap(({ tp, pp, placements }) => placements.map((own) => ({ model, shape: { tp, pp }, placements: own }))),
  );
}

/** Changes of replicas: one on another GPU or of another shape counts as one stopped and one started. */
export interface ReplicaChange {
  readonly stays: number;
  readonly stopped: readonly RunningReplica[];
  readonly started: readonly RunningReplica[];
}

/** Which replicas a change of plan touches. */
export function replicaChange(before: readonly RunningReplica[], after: readonly RunningReplica[]): ReplicaChange {
  const [was, is] = [new Set(before.map(identity)), new Set(after.map(identity))];
  const stopped = before.filter((replica) => !is.has(identity(replica)));
  const started = after.filter((replica) => !was.has(identity(replica)));
  return { stays: after.length - started.length, stopped, started };
}

const identity = ({ model, shape, placements }: RunningReplica): string => [model, shape.tp, shape.pp, ...placements.map(place)].join(" ");

const place = ({ node, gpus }: Placement): string => `${node}:${[...gpus].sort((a, b) => a - b).join()}`;
