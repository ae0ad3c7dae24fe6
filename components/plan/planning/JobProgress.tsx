"use client";

import { useEffect, useState } from "react";
import { useStore } from "zustand";
import type { Job } from "@/components/api/useJob";
import { formatSeconds } from "@/components/ui/format";
import { prepareProgress } from "./prepareProgress";

/** Shorter waits show nothing, because a bar would only flicker. */
const SHOW_AFTER_SECONDS = 0.2;
/** From this wait on silence would look like a fault. */
const SLOW_AFTER_SECONDS = 2;
const TICK_MS = 100;

/** The state of a job, with its cancel function. */
export type Doing = Pick<Job<unknown>, "working" | "progress" | "cancelled" | "cancel" | "ask">;

/** The current job: its phase, progress, start time, and a cancel button; after a cancellation a button to restart. */
export function JobProgress({ job, again }: { readonly job: Doing; readonly again: string }) {
  const { working, cancelled, cancel, ask } = job;
  if (cancelled) {
    return (
      <p role="status" className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-2">
        Cancelled.
        <TextButton onClick={ask}>{again}</TextButton>
      </p>
    );
  }
  return working === null ? null : <Working key={working.sinceMs} sinceMs={working.sinceMs} progress={job.progress} onCancel={cancel} />;
}

function Working(props: { readonly sinceMs: number; readonly progress: Doing["progress"]; readonly onCancel: () => void }) {
  const { sinceMs } = props;
  const line = prepareProgress(useStore(props.progress));
  const seconds = useSecondsSince(sinceMs);
  if (seconds < SHOW_AFTER_SECONDS) return null;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-2">
      <span
        role="progressbar"
        aria-label="Planning"
        aria-valuetext={`${line.phase} ${line.measure}`}
        {...(line.share === null ? {} : { "aria-valuenow": Math.round(100 * line.share), "aria-valuemin": 0, "aria-valuemax": 100 })}
        className="inline-block h-1.5 w-32 overflow-hidden rounded bg-line"
      >
        <span
          className={`block h-full bg-accent ${line.share === null ? "w-1/3 motion-safe:animate-pulse" : ""}`}
          style={line.share === null ? {} : { width: `${100 * line.share}%` }}
        />
      </span>
      <span>
        {/* Only the phase is announced: counts change too often to be read out. */}
        <span role="status">{line.phase}</span>
        {line.measure !== "" && `: ${line.measure}`} · {formatSeconds(seconds)}
      </span>
      <TextButton onClick={props.onCancel}>Cancel</TextButton>
      {seconds >= SLOW_AFTER_SECONDS && <span className="text-ink-3">This takes a while. You can cancel at any time.</span>}
    </div>
  );
}

/** Low enough for a panel's header, which must not grow during a job. */
function TextButton(props: { readonly onClick: () => void; readonly children: string }) {
  return (
    <button type="button" className="min-h-6 font-medium text-accent underline underline-offset-2" onClick={props.onClick}>
      {props.children}
    </button>
  );
}

function useSecondsSince(sinceMs: number): number {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((Date.now() - sinceMs) / 1000), TICK_MS);
    return () => clearInterval(timer);
  }, [sinceMs]);
  return seconds;
}
