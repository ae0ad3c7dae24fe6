"use client";

import { useEffect, useState } from "react";
import { type Inputs, useTRPCClient } from "@/components/api/trpc";
import type { LiveEvent, LiveTopics } from "@/server/contracts/studio";
import type { Live } from "./live";
import { reconnectingStream } from "./reconnectingStream";

/** A tab that is hidden for longer closes its connection: a browser has six to one server. */
const REST_AFTER_MS = 60_000;

/** Whether the page may be visible: false once its tab has been hidden for a minute, until it is shown again. */
function usePageVisible(): boolean {
  const [looked, setLooked] = useState(true);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onChange = () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => setLooked(false), REST_AFTER_MS);
      else setLooked(true);
    };
    onChange();
    document.addEventListener("visibilitychange", onChange);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onChange);
    };
  }, []);
  return looked;
}

/** The key of the requested charts and decisions, to distinguish answers to different requests. */
export const wantedAs = (topic: LiveTopics["charts"] | LiveTopics["decisions"]): string => JSON.stringify(topic);

/**
 * The one stream of this tab: all data goes to the stores, not through React state. Other topics reopen it, and the display
 * stays until their data arrives.
 */
export function useLiveStream(live: Live, clusterId: string, topics: LiveTopics): void {
  const client = useTRPCClient();
  const looked = usePageVisible();
  const text = JSON.stringify(topics);
  useEffect(() => {
    const { connect, takeColumns, takeDecisions } = live.stream.getState().actions;
    if (!looked) {
      connect({ state: "resting" });
      return;
    }
    const wanted: Inputs["live"]["stream"]["topics"] = JSON.parse(text);
    const take = (event: LiveEvent) => {
      if (event.kind === "columns") takeColumns(wantedAs(wanted.charts), event.range, wanted.charts?.spanMs ?? 0);
      else if (event.kind === "decisions") takeDecisions(wantedAs(wanted.decisions), event);
      else live.store.getState().actions.take([event.frame]);
    };
    return reconnectingStream(live.stream, ({ opened, ended }) => {
      const lastMs = live.store.getState().frames.at(-1)?.atMs;
      return client.live.stream.subscribe(
        // Frames from an earlier stream are not sent again.
        { clusterId, topics: wanted, ...(lastMs === undefined ? {} : { lastEventId: String(lastMs) }) },
        {
          onData: (tracked) => take(tracked.data),
          onConnectionStateChange: ({ state, error }) => {
            if (state === "pending") opened();
            // The browser would retry by itself, but does not report when.
            else if (state === "connecting" && error !== null) ended();
          },
          onError: ended,
          onComplete: ended,
        },
      );
    });
  }, [client, clusterId, live, looked, text]);
}
