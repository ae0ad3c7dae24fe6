import type { Caller } from "@/server/contracts/studio";

/** A page has a handful of streams; tabs share a session. */
const mostOfCaller = 24;

/** Each costs the studio work all the time it is open. */
const mostInAll = 200;

interface OpenStream {
  /** Aborts when the caller's session ends. */
  readonly signal: AbortSignal;
  /** The stream is over. */
  close(): void;
}

export interface OpenStreams {
  /** null: the caller, or the studio, has as many as it may. */
  open(caller: Caller): OpenStream | null;
  /** Ids of the sessions and tokens with open streams. */
  callers(): readonly string[];
  /** Ends the streams of sessions or tokens that ended. */
  end(callerIds: readonly string[]): void;
}

/** Counts the open streams of each caller, and ends them with its session. */
export function createOpenStreams(): OpenStreams {
  const open = new Map<string, Set<AbortController>>();
  let inAll = 0;
  return {
    open(caller) {
      const own = open.get(caller.id) ?? new Set<AbortController>();
      if (own.size >= mostOfCaller || inAll >= mostInAll) return null;
      const controller = new AbortController();
      open.set(caller.id, own.add(controller));
      inAll += 1;
      return {
        signal: controller.signal,
        close() {
          if (!own.delete(controller)) return;
          inAll -= 1;
          if (own.size === 0) open.delete(caller.id);
        },
      };
    },
    callers: () => [...open.keys()],
    end(callerIds) {
      for (const id of callerIds) for (const controller of open.get(id) ?? []) controller.abort();
    },
  };
}
