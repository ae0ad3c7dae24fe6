import { SlotHeap } from "../collections/slotHeap";
import { createReplica } from "./createReplica";
import type { OnReplicaEvent } from "./replica";
import type { ReplicaModel } from "./replicaModel";
import { OutcomeRecorder, type Recording, type ReplicaOutcome, type ReplicaRequests } from "./replicaOutcome";

export interface ClosedLoop extends Recording {
  /** Number of requests in flight as long as there are more to send; at least 1. */
  readonly concurrency: number;
}

/**
 * Runs one replica under a closed loop, the usual way to benchmark an engine: `concurrency` requests are sent at 0 s, and the
 * next in order at the instant at which a client sees one end. The engine begins its next step the moment one ends, before any client
 * sees that end: even without a front end, a request sent then joins the step after. Deterministic.
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
  const recorder = new OutcomeRecorder(model, requests, arrivalSeconds, recording);
  const replica = createReplica(model, recorder.onSteps);
  /** Clients by the time at which they are free to send; each carries the number of its last request. */
  const free = new SlotHeap(Math.min(concurrency, count));
  for (let client = 0; client < concurrency && client < count; client++) free.push(client, 0, client);
  const onEvent: OnReplicaEvent = (kind, index, seconds, seenSeconds) => {
    recorder.onEvent(kind, index, seconds, seenSeconds);
    if (kind === "finished") free.push(index, seenSeconds, index);
  };
  for (let sent = 0; sent < count; ) {
    const now = Math.min(free.leastKey, replica.nextEventSeconds());
    for (; free.leastKey <= now && sent < count; sent++) {
      arrivalSeconds[sent] = now;
      // A client whose request is refused sends the next at once.
      if (recorder.send(replica, sent)) free.pop();
    }
    replica.advanceTo(now, onEvent);
  }
  replica.advanceTo(Number.POSITIVE_INFINITY, onEvent);
  return recorder.outcome(replica);
}
