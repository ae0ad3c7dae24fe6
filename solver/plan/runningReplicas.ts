import type { Plan, RunningReplica } from "./plan";

/** The replicas of a plan one by one, as they run while it is in force. */
export function runningReplicas({ deployment }: Pick<Plan, "deployment">): RunningReplica[] {
  return deployment.flatMap(({ model, replicas }) =>
    replicas.flatMap(({ tp, pp, placements }) => placements.map((own) => ({ model, shape: { tp, pp }, placements: own }))),
  );
}
