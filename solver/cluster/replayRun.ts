import type { Policy, ReplicaView } from "@/solver/policies/policy";
import { ClusterDriver } from "./clusterDriver";
import { type DecidedRequest, type RecordedRequest, RecordedWorld } from "./recordedWorld";

export interface RecordedRun {
  /** In the order of the driver that recorded it. */
  readonly replicas: readonly Pick<ReplicaView, "id" | "model" | "maxInFlight">[];
  readonly requests: readonly RecordedRequest[];
}

/**
 * What a policy decides about each request of a recorded run, driven as in a simulation. A policy built from the recorded one's document
 * decides again what it decided, so a difference is a fault of one of the drivers, of the record, or another policy's choice.
 *
 * Complete is a record of all requests that a policy had from its building on, that were answered by the first engine they were sent
 * to, while all replicas took work and had no other work than this policy's. What lacks in a record shows as a difference: engines that
 * failed, clients that went away, other configurations, requests for a model by its own name and copies in the background at the same
 * engines.
 *
 * @throws when the policy goes by KV telemetry, which is not recorded of every replica.
 */
export function replayRun(policy: Policy, { replicas, requests }: RecordedRun): readonly DecidedRequest[] {
  if (policy.needs.includes("kv-telemetry")) throw new Error("A record has no KV readings of the replicas that were not chosen");
  const world = new RecordedWorld(replicas, requests);
  new ClusterDriver(policy, world).run();
  return world.decided;
}
