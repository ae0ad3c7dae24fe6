import { createReplica } from "@/solver/engine/createReplica";
import type { OnReplicaEvent, Replica, ReplicaEventKind } from "@/solver/engine/replica";
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
   * Hands a request in; its handle, or null when it could never fit the KV cache. Nothing happens to it before `catchUp`.
   */
  submit(inputTokens: number, outputTokens: number): number | null;
  /** Gives a request up. */
  abort(handle: number): void;
  /** Tokens a request has by now; only after `catchUp`, and only of a request not ended. */
  generatedTokens(handle: number): number;
  /** When a request entered the engine behind the front end; only in `onEvent` of its admission. */
  enteredSeconds(handle: number): number;
  readonly replica: Pick<Replica, "running" | "waiting" | "kvTokensUsed" | "busySeconds" | "preemptions">;
  stop(): void;
}

/** An event that clients have yet to see. */
interface Unseen {
  readonly kind: ReplicaEventKind;
  readonly handle: number;
  readonly seconds: number;
  readonly seenSeconds: number;
}

/**
 * Runs a replica in real time: one timer, set to its next event, so that the cost follows the events and not the tokens.
 * Events are reported with their exact engine time, when clients see them and up to a timer's grain (about 1 ms of wall time) later.
 */
export function createReplicaClock({ model, timeScale, onEvent }: ReplicaClockOptions): ReplicaClock {
  const replica = createReplica(model);
  const startMs = performance.now();
  /** In the order in which they are seen; empty where the front end takes no time for tokens. */
  const unseen: Unseen[] = [];
  /** Requests that have ended without their clients having seen it, with their tokens. */
  const ended = new Map<number, number>();
  /** Tokens that each request not ended will have. */
  const outputs = new Map<number, number>();
  let handles = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const nowSeconds = (): number => ((performance.now() - startMs) / 1000) * timeScale;

  const show = (seconds: number): void => {
    for (let next = unseen[0]; next !== undefined && next.seenSeconds <= seconds; next = unseen[0]) {
      unseen.shift();
      ended.delete(next.handle);
      onEvent(next.kind, next.handle, next.seconds, next.seenSeconds);
    }
  };

  const catchUp = (): void => {
    if (stopped) return;
    const seconds = nowSeconds();
    replica.advanceTo(seconds, keep);
    show(seconds);
    clearTimeout(timer);
    const next = Math.min(replica.nextEventSeconds(), unseen[0]?.seenSeconds ?? Number.POSITIVE_INFINITY);
    if (next === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(catchUp, Math.ceil(((next - nowSeconds()) / timeScale) * 1000));
  };

  const keep: OnReplicaEvent = (kind, handle, seconds, seenSeconds) => {
    // Clients see nothing of these.
    if (kind === "admitted" || kind === "preempted") return onEvent(kind, handle, seconds, seenSeconds);
    if (kind === "finished") {
      ended.set(handle, outputs.get(handle) ?? 0);
      outputs.delete(handle);
    }
    unseen.push({ kind, handle, seconds, seenSeconds });
  };

  return {
    nowSeconds,
    catchUp,
    submit(inputTokens, outputTokens) {
      // The replica may be behind, which changes nothing: nothing has read it since.
      if (!replica.enqueue(handles + 1, { atSeconds: nowSeconds(), inputTokens, outputTokens })) return null;
      handles += 1;
      outputs.set(handles, outputTokens);
      return handles;
    },
    abort(handle) {
      if (ended.delete(handle)) unseen.splice(0, unseen.length, ...unseen.filter((event) => event.handle !== handle));
      else {
        outputs.delete(handle);
        replica.abort(handle, nowSeconds());
      }
      catchUp();
    },
    generatedTokens: (handle) => ended.get(handle) ?? replica.generatedTokens(handle, nowSeconds()),
    enteredSeconds: (handle) => replica.enteredSeconds(handle),
    replica,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
