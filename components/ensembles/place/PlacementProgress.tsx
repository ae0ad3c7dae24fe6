"use client";

import { formatSeconds } from "@/components/ui/format";
import { useNow } from "@/components/ui/useNow";
import type { Placing } from "./usePlacement";

/** Shorter waits show nothing, because a line would only flicker. */
const SHOW_AFTER_SECONDS = 0.2;
const TICK_MS = 200;

function Since({ sinceMs }: { readonly sinceMs: number }) {
  const nowMs = useNow(TICK_MS);
  const seconds = nowMs === null ? 0 : (nowMs - sinceMs) / 1000;
  if (seconds < SHOW_AFTER_SECONDS) return null;
  return (
    <>
      <span
        role="progressbar"
        aria-label="Placing experts"
        aria-valuetext="Placing experts"
        className="inline-block h-1.5 w-24 overflow-hidden rounded bg-line"
      >
        <span className="block h-full w-1/3 motion-safe:animate-pulse bg-accent" />
      </span>
      <span>
        <span role="status">Placing experts</span> · {formatSeconds(seconds)}
      </span>
    </>
  );
}

/** Shows that experts are being placed, since when, and a cancel button; after a cancellation a button to restart. */
export function PlacementProgress({ placing }: { readonly placing: Placing }) {
  const { sinceMs, cancelled, cancel, ask } = placing;
  if (sinceMs === null && !cancelled) return null;
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-2">
      {cancelled ? <span role="status">Cancelled.</span> : sinceMs !== null && <Since key={sinceMs} sinceMs={sinceMs} />}
      <button type="button" className="min-h-6 font-medium text-accent underline underline-offset-2" onClick={cancelled ? ask : cancel}>
        {cancelled ? "Place experts" : "Cancel"}
      </button>
    </span>
  );
}
