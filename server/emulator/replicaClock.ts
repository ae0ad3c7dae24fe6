import { createReplica } from "@/solver/engine/createReplica";
import type { OnReplicaEvent, Replica, ReplicaEventKind, StepRun } from "@/solver/engine/replica";
import type { ReplicaModel } from "@/solver/engine/replicaModel";

/** Watches the engine itself: what happens in it when it happens, not when clients see it. */
export interface EngineObserver {
  event(kind: ReplicaEventKind, handle: number, seconds: number): void;
  /** A run of steps has ended, after the events at its end. */
  ran(run: StepRun): void;
  /** A request inside the engine is aborted: no event of it follows. */
  aborted(handle: number): void;
}

export interface ReplicaClockOptions {
  readonly model: ReplicaModel;
  /** Engine seconds per wall second. */
  readonly timeScale: number;
  readonly onEvent: OnReplicaEvent;
  readonly observer?: EngineObserver;
}

/** A simulated replica driven by the wall clock. Its seconds are engine seconds since it was created. */
export interface ReplicaClock {
  nowSeconds(): number;
  /** Processes all due events. */
  catchUp(): void;
  /** Adds a request; returns its handle, or null if it could never fit the KV cache. It is not processed before `catchUp`. */
  submit(inputTokens: number, outputTokens: number): number | null;
  /** Aborts a request. */
  abort(handle: number): void;
  /** Tokens of a request so far; only after `catchUp`, and only for a request that has not ended. */
  generatedTokens(handle: number): number;
  /** When a request entered the engine behind the front end; only in `onEvent` of its admission. */
  enteredSeconds(handle: number): number;
  readonly replica: Pick<Replica, "running" | "waiting" | "kvTokensUsed" | "busySeconds" | "preemptions" | "stepsSoFar">;
  stop(): void;
}

/** An event that clients have not seen yet. */
interface Unseen {
  readonly kind: ReplicaEventKind;
  readonly handle: number;
  readonly seconds: number;
  readonly seenSeconds: number;
}

/**
 * Runs a replica in real time: one timer, set to its next event, so that the cost depends on the events and not on the tokens. Events are
 * reported with their exact engine time, at the time when clients see them, plus the timer's granularity (about 1 ms of wall time).
 */
export function createReplicaClock({ model, timeScale, onEvent, observer }: ReplicaClockOptions): ReplicaClock {
  const replica = createReplica(model, observer && ((run) => observer.ran(run)));
  const startMs = performance.now();
  /** In the order in which they are seen; empty if the front end takes no time for tokens. */
  const unseen: Unseen[] = [];
  /** Requests that have ended before their clients see it, with their tokens. */
  const ended = new Map<number, number>();
  /** Final token count of each request that has not ended. */
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
    observer?.event(kind, handle, seconds);
    // Clients do not see these.
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
      // The replica may be behind, which has no effect: nothing has read it since.
      if (!replica.enqueue(handles + 1, { atSeconds: nowSeconds(), inputTokens, outputTokens })) return null;
      handles += 1;
      outputs.set(handles, outputTokens);
      return handles;
    },
    abort(handle) {
      if (ended.delete(handle)) unseen.splice(0, unseen.length, ...unseen.filter((event) => event.handle !== handle));
      else {
        outputs.delete(handle);
        observer?.aborted(handle);
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
