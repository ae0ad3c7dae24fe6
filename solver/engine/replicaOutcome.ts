import { type KvBin, KvUse } from "./kvUse";
import type { EngineRequest, OnReplicaEvent, OnSteps, Replica } from "./replica";
import type { ReplicaModel } from "./replicaModel";

/** Requests of one replica, in the order in which they are sent. */
export interface ReplicaRequests {
  readonly inputTokens: ArrayLike<number>;
  readonly outputTokens: ArrayLike<number>;
  /** Lower is served first; all equal when left out. */
  readonly priorities?: ArrayLike<number>;
  /** Prompt tokens found in the prefix cache, of each request. */
  readonly cachedTokens?: ArrayLike<number>;
  /** Share of every prompt's tokens found in the prefix cache, 0..1, where `cachedTokens` is left out; 0 without either. */
  readonly prefixHitRate?: number;
}

/** The outcome of each request, in the order of the arrivals. A refused request has infinite times. */
export interface ReplicaOutcome {
  readonly arrivalSeconds: ArrayLike<number>;
  readonly outputTokens: ArrayLike<number>;
  /** Arrival to first admission into the batch, without the front end's own work on the request: its waiting time for others. */
  readonly queueSeconds: Float64Array;
  /** Arrival to first token as the client sees it. */
  readonly ttftSeconds: Float64Array;
  /** Arrival to last token as the client sees it. */
  readonly endToEndSeconds: Float64Array;
  readonly busySeconds: number;
  /** First arrival to last end, as the clients see it. */
  readonly horizonSeconds: number;
  readonly preemptions: number;
  readonly peakKvTokens: number;
  /** KV cache in use from the first arrival to the last finish; `null` unless the caller asked for it. */
  readonly kvUse: readonly KvBin[] | null;
  /** Requests whose prompt and answer together exceed the KV cache. */
  readonly refused: number;
}

/** Optional records of a driver in addition to the latencies, which cost time. */
export interface Recording {
  readonly recordKvUse?: boolean;
}

/** Records a replica's events for the requests that its driver sends; their handles are their positions. */
export class OutcomeRecorder {
  readonly onSteps: OnSteps | undefined;

  private readonly queueSeconds: Float64Array;
  private readonly ttftSeconds: Float64Array;
  private readonly endToEndSeconds: Float64Array;
  private readonly kvUse: KvUse | null;
  private lastEnd = Number.NEGATIVE_INFINITY;
  private refused = 0;

  /** @param arrivalSeconds may be filled in during the run, each before its request is sent. */
  constructor(
    private readonly model: ReplicaModel,
    private readonly requests: ReplicaRequests,
    private readonly arrivalSeconds: ArrayLike<number>,
    { recordKvUse = false }: Recording,
  ) {
    const none = (): Float64Array => new Float64Array(arrivalSeconds.length).fill(Number.POSITIVE_INFINITY);
    this.queueSeconds = none();
    this.ttftSeconds = none();
    this.endToEndSeconds = none();
    const kvUse = recordKvUse ? new KvUse(arrivalSeconds[0] ?? 0) : null;
    this.kvUse = kvUse;
    this.onSteps =
      kvUse === null
        ? undefined
        : ({ fromSeconds, toSeconds, firstKvTokens, lastKvTokens }) => kvUse.add(fromSeconds, toSeconds, firstKvTokens, lastKvTokens);
  }

  /** Passes the request to the replica at its arrival; false when the replica can never hold it. */
  send(replica: Replica, index: number): boolean {
    const taken = replica.enqueue(index, this.request(index));
    if (!taken) this.refused++;
    return taken;
  }

  readonly onEvent: OnReplicaEvent = (kind, index, seconds, seenSeconds) => {
    const arrival = this.arrivalSeconds[index] ?? 0;
    if (kind === "finished") {
      this.endToEndSeconds[index] = seenSeconds - arrival;
      if (seenSeconds > this.lastEnd) this.lastEnd = seenSeconds;
    } else if (kind === "first-token") {
      this.ttftSeconds[index] = seenSeconds - arrival;
    } else if (kind === "admitted" && this.queueSeconds[index] === Number.POSITIVE_INFINITY) {
      const ownSeconds = this.model.requestSeconds(this.requests.inputTokens[index] ?? 0);
      // Sums of the same seconds in another order may differ in the last digit.
      this.queueSeconds[index] = Math.max(0, seconds - arrival - ownSeconds);
    }
  };

  outcome({ busySeconds, preemptions, peakKvTokens }: Replica): ReplicaOutcome {
    const { arrivalSeconds, requests, queueSeconds, ttftSeconds, endToEndSeconds, refused } = this;
    const first = arrivalSeconds[0] ?? 0;
    const last = Math.max(first, this.lastEnd);
    return {
      arrivalSeconds,
      outputTokens: requests.outputTokens,
      queueSeconds,
      ttftSeconds,
      endToEndSeconds,
      busySeconds,
      horizonSeconds: last - first,
      preemptions,
      peakKvTokens,
      kvUse: this.kvUse?.bins(last) ?? null,
      refused,
    };
  }

  private request(index: number): EngineRequest {
    const { inputTokens, outputTokens, priorities, cachedTokens, prefixHitRate = 0 } = this.requests;
    const input = inputTokens[index] ?? 0;
    return {
      atSeconds: this.arrivalSeconds[index] ?? 0,
      inputTokens: input,
      outputTokens: outputTokens[index] ?? 0,
      priority: priorities?.[index] ?? 0,
      cachedTokens: cachedTokens?.[index] ?? Math.floor(prefixHitRate * input),
    };
  }
}
