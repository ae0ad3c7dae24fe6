import type { Policy } from "@/solver/policies/core/policy";
import { ClusterDriver } from "./clusterDriver";
import { type DecidedRequest, type RecordedReplica, type RecordedRequest, RecordedWorld } from "./recordedWorld";

export interface RecordedRun {
  /** In the order of the driver that recorded it. */
  readonly replicas: readonly RecordedReplica[];
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
 * Of what workflows taught a record has the forecast at the stage that a request entered last, which then counts at all of its stages.
 *
 * Policies that pack the replicas' memory are replayed where the record says how much each holds: what they send where, and what they hold back
 * until a request ends. Their suspensions are not, for want of readings of the replicas that were not chosen; nor is the moment at which what was
 * held back went without anything happening, since the replay asks when the policy says and the gateway somewhat later: from there on the two
 * may differ.
 *
 * @throws when the policy goes by KV telemetry otherwise, or by a size that is not given.
 */
export function replayRun(policy: Policy, { replicas, requests }: RecordedRun): readonly DecidedRequest[] {
  const packs = policy.memory !== undefined;
  if (policy.needs.includes("kv-telemetry") && !packs) throw new Error("A record has no KV readings of the replicas that were not chosen");
  const unknown = packs ? replicas.find(({ kvTokens = null }) => kvTokens === null) : undefined;
  if (unknown !== undefined) throw new Error(`The policy packs memory, and the record does not say how much ${unknown.id} holds`);
  const world = new RecordedWorld(replicas, requests);
  new ClusterDriver(policy, world).run();
  return world.decided;
}
