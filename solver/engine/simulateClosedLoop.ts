import { createReplica } from "./replica";
import type { ReplicaModel } from "./replicaModel";
import { OutcomeRecorder, type Recording, type ReplicaOutcome, type ReplicaRequests } from "./replicaOutcome";

export interface ClosedLoop extends Recording {
  /** Requests in flight as long as there are others to send; at least 1. */
  readonly concurrency: number;
}

/**
 * Runs one replica under a closed loop, the usual way to benchmark an engine: `concurrency` requests are sent at 0 s, and the
 * next in order at the instant at which one ends. The engine begins its next step at that very instant, before the client has heard of
 * the end, so that a request sent then joins the step after it. Deterministic.
 *
 * @throws when the concurrency is below 1.
 */
export function simulateClosedLoop(
  model: ReplicaModel,
  requests: ReplicaRequests,
  { concurrency, ...recording }: ClosedLoop,
): ReplicaOutcome {
  if (!(concurrency >= 1)) throw new Error(`A closed loop needs a concurrency of at least 1, found ${concurrency}`);
  const count = requests.inputTokens.length;
  const arrivalSeconds = new Float64Array(count);
  const recorder = new OutcomeRecorder(requests, arrivalSeconds, recording);
  const replica = createReplica(model, recorder.onSteps);
  let sent = 0;
  let inFlight = 0;
  for (let now = 0; sent < count; now = replica.nextEventSeconds()) {
    const finishedBefore = recorder.finished;
    replica.advanceTo(now, recorder.onEvent);
    inFlight -= recorder.finished - finishedBefore;
    for (; inFlight < concurrency && sent < count; sent++) {
      arrivalSeconds[sent] = now;
      if (recorder.send(replica, sent)) inFlight++;
    }
  }
  replica.advanceTo(Number.POSITIVE_INFINITY, recorder.onEvent);
  return recorder.outcome(replica);
}
