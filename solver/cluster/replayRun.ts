import type { Policy } from "@/solver/policies/core/policy";
import { ClusterDriver } from "./clusterDriver";
import { type DecidedRequest, type RecordedReplica, type RecordedRequest, RecordedWorld } from "./recordedWorld";

export interface RecordedRun {
  /** In the order of the driver that recorded it. */
  readonly replicas: readonly RecordedReplica[];
  readonly requests: readonly RecordedRequest[];
}

/**
 * A policy's decisions about each request of a recorded run, driven as in a simulation. A policy built from the recorded one's document
 * repeats its decisions, so a difference is an error in one of the drivers or the record, or another policy's choice.
 *
 * A complete record has all requests of a policy since it was built, each answered by the first engine it was sent to, while all replicas
 * took work and had no work except this policy's. Missing parts of a record show as differences: engines that failed, clients that
 * disconnected, other configurations, requests for a model by its own name and background copies at the same
 * engines.
 *
 * A record has the forecast of learnt workflows at the stage that a request entered last and those that replaced it while it waited; before
 * that the first counts at all of its stages.
 *
 * Policies that pack the replicas' memory are replayed where the record contains each replica's capacity: where they send work, and what
 * they hold back until a request ends. Their suspensions are not replayed, since readings of the replicas that were not chosen are missing;
 * nor is the moment at which held-back work went without an event, since the replay calls when the policy requests it and the gateway
 * somewhat later: from there on the two may differ.
 *
 * @throws when the policy depends on KV telemetry otherwise, or on a size that is not given.
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
