import { createReplica, type ReplicaEventKind } from "./replica";
import type { ReplicaModel } from "./replicaModel";

/** Requests of one replica, ascending by arrival. */
export interface ReplicaWork {
  readonly arrivalSeconds: ArrayLike<number>;
  readonly inputTokens: ArrayLike<number>;
  readonly outputTokens: ArrayLike<number>;
}

/** What became of each request, in the order of the arrivals. A refused request has infinite times. */
export interface ReplicaOutcome {
  /** Arrival to first admission into the batch. */
  readonly queueSeconds: Float64Array;
  /** Arrival to first token. */
  readonly ttftSeconds: Float64Array;
  /** Arrival to last token. */
  readonly endToEndSeconds: Float64Array;
  readonly busySeconds: number;
  /** First arrival to last finish. */
  readonly horizonSeconds: number;
  readonly preemptions: number;
  readonly peakKvTokens: number;
  /** Requests whose prompt and answer together exceed the KV cache. */
  readonly refused: number;
}

/**
 * Runs one replica over a list of arrivals until all are done. Deterministic.
 *
 * @throws when arrivals do not ascend.
 */
export function simulateReplica(model: ReplicaModel, work: ReplicaWork): ReplicaOutcome {
  const { arrivalSeconds, inputTokens, outputTokens } = work;
  const count = arrivalSeconds.length;
  const queueSeconds = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
  const ttftSeconds = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
  const endToEndSeconds = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
  const first = arrivalSeconds[0] ?? 0;
  let lastFinish = first;
  let refused = 0;

  const onEvent = (kind: ReplicaEventKind, index: number, seconds: number): void => {
    const elapsed = seconds - (arrivalSeconds[index] ?? 0);
    if (kind === "finished") {
      endToEndSeconds[index] = elapsed;
      lastFinish = seconds;
    } else if (kind === "first-token") {
      ttftSeconds[index] = elapsed;
    } else if (kind === "admitted" && queueSeconds[index] === Number.POSITIVE_INFINITY) {
      queueSeconds[index] = elapsed;
    }
  };

  const replica = createReplica(model);
  for (let index = 0; index < count; index++) {
    const atSeconds = arrivalSeconds[index] ?? 0;
    if (!replica.enqueue(index, { atSeconds, inputTokens: inputTokens[index] ?? 0, outputTokens: outputTokens[index] ?? 0 })) refused++;
    // Requests of the same instant enter together.
    if (atSeconds !== arrivalSeconds[index + 1]) replica.advanceTo(atSeconds, onEvent);
  }
  replica.advanceTo(Number.POSITIVE_INFINITY, onEvent);

  return {
    queueSeconds,
    ttftSeconds,
    endToEndSeconds,
    busySeconds: replica.busySeconds,
    horizonSeconds: lastFinish - first,
    preemptions: replica.preemptions,
    peakKvTokens: replica.peakKvTokens,
    refused,
  };
}
