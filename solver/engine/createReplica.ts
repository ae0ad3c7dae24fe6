import { ContinuousBatching } from "./continuousBatching";
import { FrontEndReplica } from "./frontEndReplica";
import type { LookUpPrefix, OnSteps, Replica } from "./replica";
import type { ReplicaModel } from "./replicaModel";

/**
 * An idle replica: continuous batching (see `ContinuousBatching`) behind a front end (see `FrontEndReplica`).
 *
 * @throws when the model's bounds are invalid: see the message.
 */
export function createReplica(model: ReplicaModel, onSteps?: OnSteps, lookUpPrefix?: LookUpPrefix): Replica {
  if (!(model.kvTokens >= 2 && model.maxSequences >= 1 && model.maxBatchedTokens > model.maxSequences)) {
    throw new Error(
      `A replica needs kvTokens >= 2, maxSequences >= 1 and maxBatchedTokens > maxSequences, found ${model.kvTokens}, ${model.maxSequences} and ${model.maxBatchedTokens}`,
    );
  }
  const { aging } = model;
  if (aging !== undefined && !(aging.starvedSteps >= 1 && aging.quantumSteps >= 1)) {
    throw new Error(`Aging needs at least 1 step each, found ${aging.starvedSteps} steps to starve and ${aging.quantumSteps} of service`);
  }
  return new FrontEndReplica(model, new ContinuousBatching(model, onSteps, lookUpPrefix));
}
