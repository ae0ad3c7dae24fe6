import { createReplica, type OnReplicaEvent, type Replica } from "@/solver/engine/replica";
import type { ReplicaModel } from "@/solver/engine/replicaModel";

export interface ReplicaClockOptions {
  readonly model: ReplicaModel;
  /** Engine seconds in a wall second. */
  readonly timeScale: number;
  readonly onEvent: OnReplicaEvent;
}

/** A simulated replica driven by the wall clock. Its seconds are engine seconds since it was made. */
export interface ReplicaClock {
  nowSeconds(): number;
  /** Lets everything that is due happen. */
  catchUp(): void;
  /**
   * Hands a request in; its handle, or null when it could never fit the KV cache. Nothing happens to it before `catchUp`, and it reaches the
   * replica after the seconds that it spends outside the engine's steps.
   */
  submit(inputTokens: number, outputTokens: number): number | null;
  /** Gives a request up. */
  abort(handle: number): void;
  /** Tokens a request has by now; only after `catchUp`, and only of a request not ended. */
  generatedTokens(handle: number): number;
  readonly replica: Pick<Replica, "running" | "waiting" | "kvTokensUsed" | "busySeconds" | "preemptions">;
  stop(): void;
}

/** A request on its way to the replica. */
interface UnderWay {
  readonly handle: number;
  readonly atSeconds: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/**
 * Runs a replica in real time: one timer, set to its next event, so that the cost follows the events and not the tokens.
 * Events are told with their exact engine time and up to a timer's grain (about 1 ms of wall time) after it. All of `requestSeconds`
 * passes before a request's first step: its client sees first token and end as late as if a part came after the last.
 */
export function createReplicaClock({ model, timeScale, onEvent }: ReplicaClockOptions): ReplicaClock {
  const replica = createReplica(model);
  const startMs = performance.now();
  /** By arrival at the replica. */
  const underWay: UnderWay[] = [];
  let handles = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const nowSeconds = (): number => ((performance.now() - startMs) / 1000) * timeScale;

  const catchUp = (): void => {
    if (stopped) return;
    const seconds = nowSeconds();
    for (let first = underWay[0]; first !== undefined && first.atSeconds <= seconds; first = underWay[0]) {
      replica.enqueue(first.handle, first);
      underWay.shift();
    }
    replica.advanceTo(seconds, onEvent);
    clearTimeout(timer);
    const next = Math.min(replica.nextEventSeconds(), underWay[0]?.atSeconds ?? Number.POSITIVE_INFINITY);
    if (next === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(catchUp, Math.ceil(((next - nowSeconds()) / timeScale) * 1000));
  };

  return {
    nowSeconds,
    catchUp,
    submit(inputTokens, outputTokens) {
      if (Math.max(1, inputTokens) + outputTokens > model.kvTokens) return null;
      handles += 1;
      const request = { handle: handles, atSeconds: nowSeconds() + model.requestSeconds(inputTokens), inputTokens, outputTokens };
      // A longer prompt takes longer to tokenise: a shorter one behind it may overtake it.
      const after = underWay.findLastIndex(({ atSeconds }) => atSeconds <= request.atSeconds);
      underWay.splice(after + 1, 0, request);
      return handles;
    },
    abort(handle) {
      const at = underWay.findIndex((request) => request.handle === handle);
      if (at >= 0) underWay.splice(at, 1);
      else replica.abort(handle, nowSeconds());
      catchUp();
    },
    generatedTokens: (handle) =>
      underWay.some((request) => request.handle === handle) ? 0 : replica.generatedTokens(handle, nowSeconds()),
    replica,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
