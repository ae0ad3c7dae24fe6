import type { StreamStore } from "./streamStore";

/** Waits before a broken or ended stream is opened again: doubled each time, up to the longest. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;

/** Callbacks of an opened stream. */
export interface StreamNews {
  /** The studio answers. */
  readonly opened: () => void;
  /** It broke, ended or could not be opened. */
  readonly ended: () => void;
}

/**
 * Keeps a stream open until the returned function is called, and reports its state to the store: lost since when, and when it is
 * tried again.
 */
export function reconnectingStream(stream: StreamStore, open: (news: StreamNews) => { unsubscribe(): void }): () => void {
  const { connect } = stream.getState().actions;
  let waitMs = FIRST_WAIT_MS;
  let leave = (): void => undefined;
  const lose = (retryAtMs: number | null): void => {
    const { connection } = stream.getState();
    connect({ state: "lost", sinceMs: connection.state === "lost" ? connection.sinceMs : Date.now(), retryAtMs });
  };
  const attempt = (): void => {
    let over = false;
    let subscription: { unsubscribe(): void } | undefined;
    leave = () => {
      over = true;
      subscription?.unsubscribe();
    };
    subscription = open({
      opened: () => {
        if (over) return;
        waitMs = FIRST_WAIT_MS;
        connect({ state: "open" });
      },
      ended: () => {
        if (over) return;
        leave();
        lose(Date.now() + waitMs);
        const timer = setTimeout(() => {
          lose(null);
          attempt();
        }, waitMs);
        leave = () => clearTimeout(timer);
        waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
      },
    });
  };
  attempt();
  return () => leave();
}
