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
  /** Hands a request in; its handle, or null when it could never fit the KV cache. Nothing happens to it before `catchUp`. */
  submit(inputTokens: number, outputTokens: number): number | null;
  /** Gives a request up. */
  abort(handle: number): void;
  /** Tokens a request has by now; only after `catchUp`, and only of a request inside. */
  generatedTokens(handle: number): number;
  readonly replica: Pick<Replica, "running" | "waiting" | "kvTokensUsed" | "busySeconds" | "preemptions">;
  stop(): void;
}

/**
 * Runs a replica in real time: one timer, set to its next event, so that the cost follows the events and not the tokens.
 * Events are told with their exact engine time and up to a timer's grain (about 1 ms of wall time) after it.
 */
export function createReplicaClock({ model, timeScale, onEvent }: ReplicaClockOptions): ReplicaClock {
  const replica = createReplica(model);
  const startMs = performance.now();
  let handles = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const nowSeconds = (): number => ((performance.now() - startMs) / 1000) * timeScale;

  const catchUp = (): void => {
    if (stopped) return;
    replica.advanceTo(nowSeconds(), onEvent);
    clearTimeout(timer);
    const next = replica.nextEventSeconds();
    if (next === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(catchUp, Math.ceil(((next - nowSeconds()) / timeScale) * 1000));
  };

  return {
    nowSeconds,
    catchUp,
    submit(inputTokens, outputTokens) {
      handles += 1;
      return replica.enqueue(handles, { atSeconds: nowSeconds(), inputTokens, outputTokens }) ? handles : null;
    },
    abort(handle) {
      replica.abort(handle, nowSeconds());
      catchUp();
    },
    generatedTokens: (handle) => replica.generatedTokens(handle, nowSeconds()),
    replica,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
