import { createReplica } from "./createReplica";
import type { ReplicaModel } from "./replicaModel";
import { OutcomeRecorder, type Recording, type ReplicaOutcome, type ReplicaRequests } from "./replicaOutcome";

/** Requests of one replica, ascending by arrival. */
export interface ReplicaWork extends ReplicaRequests {
  readonly arrivalSeconds: ArrayLike<number>;
}

/**
 * Runs one replica over a list of arrivals (an open loop) until all are done. Deterministic.
 *
 * @throws when arrivals do not ascend.
 */
export function simulateReplica(model: ReplicaModel, work: ReplicaWork, recording: Recording = {}): ReplicaOutcome {
  const { arrivalSeconds } = work;
  const recorder = new OutcomeRecorder(model, work, arrivalSeconds, recording);
  const replica = createReplica(model, recorder.onSteps);
  for (let index = 0; index < arrivalSeconds.length; index++) {
    const atSeconds = arrivalSeconds[index] ?? 0;
    recorder.send(replica, index);
    // Requests of the same instant enter together.
    if (atSeconds !== arrivalSeconds[index + 1]) replica.advanceTo(atSeconds, recorder.onEvent);
  }
  replica.advanceTo(Number.POSITIVE_INFINITY, recorder.onEvent);
  return recorder.outcome(replica);
}
