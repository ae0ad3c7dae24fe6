"use client";

import type { ReactNode } from "react";
import { useStore } from "zustand";
import { StateWord } from "../ui/Badge";
import { Button } from "../ui/Button";
import { formatAge } from "../ui/format";
import { PageHeader } from "../ui/PageHeader";
import { useNow } from "../ui/useNow";
import type { FrameStore } from "./frameStore";
import { type LiveView, RANGES } from "./liveCodec";
import { STALE_AFTER_MS } from "./prepareLive";
import type { Connection } from "./useLiveFrames";

function Freshness({ store, connection }: { readonly store: FrameStore; readonly connection: Connection }) {
  const nowMs = useNow(500);
  const lastMs = useStore(store, (state) => state.frames.at(-1)?.atMs ?? null);
  if (connection === "lost") return <StateWord tone="bad">connection lost, reload to try again</StateWord>;
  if (connection === "connecting") return <StateWord tone="warn">connecting</StateWord>;
  if (lastMs === null || nowMs === null) return <StateWord tone="neutral">no sample yet</StateWord>;
  const ageMs = nowMs - lastMs;
  return ageMs > STALE_AFTER_MS ? (
    <StateWord tone="warn">last sample {formatAge(ageMs / 1000)} ago</StateWord>
  ) : (
    <StateWord tone="good">live</StateWord>
  );
}

/** Range, pause and the age of what is seen. */
export function LiveHeader(props: {
  readonly store: FrameStore;
  readonly connection: Connection;
  readonly range: LiveView["range"];
  readonly onRange: (range: LiveView["range"]) => void;
  readonly children?: ReactNode;
}) {
  const { store } = props;
  const paused = useStore(store, (state) => state.paused);
  const held = useStore(store, (state) => state.held);
  const { pause, resume } = store.getState().actions;
  return (
    <PageHeader title="Live">
      <Freshness store={store} connection={props.connection} />
      <div className="ml-auto flex flex-wrap items-center gap-2">
        {props.children}
        <fieldset className="flex overflow-hidden rounded-md border border-line-strong">
          <legend className="sr-only">Range</legend>
          {RANGES.map((range) => (
            <button
              key={range}
              type="button"
              aria-pressed={range === props.range}
              className={`h-8 px-2.5 text-sm ${range === props.range ? "bg-accent-soft font-medium text-accent" : "bg-raised text-ink-2 hover:bg-sunken"}`}
              onClick={() => props.onRange(range)}
            >
              {Number(range) / 60} min
            </button>
          ))}
        </fieldset>
        <Button onClick={paused ? resume : pause}>{paused ? `Resume, +${held} samples` : "Pause"}</Button>
      </div>
    </PageHeader>
  );
}
