"use client";

import { useStore } from "zustand";
import { StateWord } from "../ui/Badge";
import { Button } from "../ui/Button";
import { formatAge, formatClock, formatCounted } from "../ui/format";
import { PageHeader } from "../ui/PageHeader";
import { useNow } from "../ui/useNow";
import { prepareFreshness } from "./prepareFreshness";
import { type Live, pauseLive, resumeLive } from "./stream/live";

function Freshness({ live }: { readonly live: Live }) {
  const nowMs = useNow(500);
  const connection = useStore(live.stream, (state) => state.connection);
  const lastMs = useStore(live.store, (state) => state.frames.at(-1)?.atMs ?? null);
  const beforeMs = useStore(live.store, (state) => state.frames.at(-2)?.atMs ?? null);
  const age = lastMs === null || nowMs === null ? null : formatAge((nowMs - lastMs) / 1000);
  const { word, tone, title } = prepareFreshness({ connection, lastMs, beforeMs, nowMs });
  return (
    <span data-testid="freshness" className="flex flex-wrap items-center gap-2">
      <StateWord tone={tone} {...(title === undefined ? {} : { title })}>
        {word}
      </StateWord>
      {age !== null && <span className="text-xs text-ink-3">last sample {age === "now" ? "just now" : `${age} ago`}</span>}
    </span>
  );
}

/** The page's name, the age of its data, and the pause button. */
export function LiveHeader({ live }: { readonly live: Live }) {
  const paused = useStore(live.store, (state) => state.paused);
  const held = useStore(live.store, (state) => state.held);
  const shownMs = useStore(live.store, (state) => (state.paused ? (state.shown.at(-1)?.atMs ?? null) : null));
  return (
    <PageHeader title="Live">
      <Freshness live={live} />
      <div className="ml-auto flex items-center gap-2">
        {paused && (
          <StateWord tone="warn">
            paused
            {shownMs !== null && (
              <>
                {" "}
                at <time dateTime={new Date(shownMs).toISOString()}>{formatClock(new Date(shownMs).toISOString())}</time>
              </>
            )}
          </StateWord>
        )}
        <Button onClick={() => (paused ? resumeLive(live) : pauseLive(live))}>
          {paused ? `Resume, +${formatCounted(held, "sample")}` : "Pause"}
        </Button>
      </div>
    </PageHeader>
  );
}
