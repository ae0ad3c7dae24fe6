"use client";

import { type ReactNode, useEffect, useState } from "react";

/** Every state of a panel. A panel that omits one does not compile. */
export type PanelStatus =
  | { readonly kind: "ready" }
  /** Part of it is missing; the rest is shown, `note` says what is missing. */
  | { readonly kind: "partial"; readonly note: string }
  /** Older than it should be; shown with the reason. */
  | { readonly kind: "stale"; readonly note: string }
  | { readonly kind: "loading"; readonly what: string }
  | { readonly kind: "empty"; readonly title: string; readonly text: string; readonly action?: ReactNode }
  | { readonly kind: "error"; readonly message: string; readonly retry: (() => void) | null };

/** Shorter waits show nothing, because a spinner would only flicker. */
const SHOW_AFTER_MS = 200;
/** From this wait on silence would look like a fault. */
const SLOW_AFTER_MS = 2000;

function Loading({ what }: { readonly what: string }) {
  const [phase, setPhase] = useState<"hidden" | "shown" | "slow">("hidden");
  useEffect(() => {
    const show = setTimeout(() => setPhase("shown"), SHOW_AFTER_MS);
    const slow = setTimeout(() => setPhase("slow"), SLOW_AFTER_MS);
    return () => {
      clearTimeout(show);
      clearTimeout(slow);
    };
  }, []);
  return (
    <div role="status" className="flex min-h-24 flex-col items-center justify-center gap-2 text-sm text-ink-3">
      {phase !== "hidden" && (
        <>
          <span aria-hidden="true" className="h-1 w-24 overflow-hidden rounded bg-line">
            <span className="block h-full w-1/3 motion-safe:animate-pulse rounded bg-accent" />
          </span>
          <span>{what} …</span>
          {phase === "slow" && <span className="text-xs">This takes longer than usual. It is still in progress.</span>}
        </>
      )}
    </div>
  );
}

/** Renders a panel's content or, without content, the reason and the next action. */
export function PanelState({ status, children }: { readonly status: PanelStatus; readonly children: () => ReactNode }) {
  switch (status.kind) {
    case "ready":
    case "partial":
    case "stale":
      // One tree shape for all three: the content's state survives a moment of staleness.
      return (
        <>
          {status.kind !== "ready" && (
            <p role="status" className="mb-3 rounded-md bg-warn-soft px-3 py-1.5 text-sm text-warn">
              {status.kind === "stale" ? "Stale: " : "Partial: "}
              {status.note}
            </p>
          )}
          {children()}
        </>
      );
    case "loading":
      return <Loading what={status.what} />;
    case "empty":
      return (
        <div className="flex min-h-24 flex-col items-center justify-center gap-2 text-center">
          <p className="text-sm font-medium">{status.title}</p>
          <p className="max-w-prose text-sm text-ink-3">{status.text}</p>
          {status.action}
        </div>
      );
    case "error":
      return (
        <div role="alert" className="flex min-h-24 flex-col items-center justify-center gap-2 text-center">
          <p className="max-w-prose text-sm text-bad [overflow-wrap:anywhere]">{status.message}</p>
          {status.retry !== null && (
            <button type="button" onClick={status.retry} className="text-sm font-medium text-accent underline underline-offset-2">
              Try again
            </button>
          )}
        </div>
      );
  }
}
