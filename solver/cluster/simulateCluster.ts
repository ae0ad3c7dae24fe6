import { ClusterDriver } from "./clusterDriver";
import type { ClusterOutcome } from "./clusterOutcome";
import { type ClusterSimulation, ModelledWorld } from "./modelledWorld";

/**
 * A whole deployment on virtual time under the same policy object that the gateway runs: requests join their starting stage, the
 * policy sends them to replicas, answers of judged stages wait for the judge, then the policy accepts or escalates them.
 * An answer is available once its client would see it, `requestSeconds` of the replica's model after its last step. Deterministic: at one
 * instant replicas are processed first (in the given order), then answers, then judgements, then arrivals, then one decision.
 *
 * @throws when the policy names a model that the outcome table lacks, or a replica that does not exist or is full.
 */
export function simulateCluster(simulation: ClusterSimulation): ClusterOutcome {
  const world = new ModelledWorld(simulation);
  new ClusterDriver(simulation.policy, world).run();
  return world.outcome();
}
