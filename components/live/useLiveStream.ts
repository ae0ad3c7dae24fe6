"use client";

import { useEffect } from "react";
import type { LiveEvent, LiveTopics } from "@/server/contracts/studio";
import { type Inputs, useTRPCClient } from "../api/trpc";
import type { Live } from "./live";
import { useLookedAt } from "./useLookedAt";

/** Waits before a stream that ended is opened again: doubled each time, up to the longest. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;

/** What charts and decisions were asked for as, to tell answers to different questions apart. */
export const wantedAs = (topic: LiveTopics["charts"] | LiveTopics["decisions"]): string => JSON.stringify(topic);

/**
 * The one stream of this tab: all that comes goes to the stores, not through React state. Other topics open it anew, and what is shown
 * stays until they are answered. A break is mended by the browser itself; a stream that ended is opened again after a while.
 */
export function useLiveStream(live: Live, clusterId: string, topics: LiveTopics): void {
  const client = useTRPCClient();
  const looked = useLookedAt();
  const text = JSON.stringify(topics);
  useEffect(() => {
    const { connect, takeColumns, takeDecisions } = live.stream.getState().actions;
    if (!looked) {
      connect({ state: "resting" });
      return;
    }
    const wanted: Inputs["live"]["stream"]["topics"] = JSON.parse(text);
    let over = false;
    let waitMs = FIRST_WAIT_MS;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const lose = (retryAtMs: number | null) => {
      const { connection } = live.stream.getState();
      connect({ state: "lost", sinceMs: connection.state === "lost" ? connection.sinceMs : Date.now(), retryAtMs });
    };
    const again = () => {
      if (over) return;
      lose(Date.now() + waitMs);
      timer = setTimeout(open, waitMs);
      waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
    };
    const take = (event: LiveEvent) => {
      if (event.kind === "columns") takeColumns(wantedAs(wanted.charts), event.range, wanted.charts?.spanMs ?? 0);
      else if (event.kind === "decisions") takeDecisions(wantedAs(wanted.decisions), event);
      // A stream that is opened anew begins with frames that an earlier one brought.
      else if (event.frame.atMs > (live.store.getState().frames.at(-1)?.atMs ?? 0)) live.store.getState().actions.take([event.frame]);
    };
    let subscription: { unsubscribe(): void } | undefined;
    function open(): void {
      subscription = client.live.stream.subscribe(
        { clusterId, topics: wanted },
        {
          onData: (tracked) => take(tracked.data),
          onConnectionStateChange: ({ state, error }) => {
            if (over) return;
            if (state === "pending") {
              waitMs = FIRST_WAIT_MS;
              connect({ state: "open" });
            } else if (state === "connecting" && error !== null) lose(null);
          },
          onError: again,
          onComplete: again,
        },
      );
    }
    open();
    return () => {
      over = true;
      clearTimeout(timer);
      subscription?.unsubscribe();
    };
  }, [client, clusterId, live, looked, text]);
}
