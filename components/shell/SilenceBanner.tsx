"use client";

import { formatClock } from "../ui/format";
import { useStudioSilence } from "./useStudioSilence";

/** Shows once, on every page, that the studio does not answer; disappears with its next answer. */
export function SilenceBanner() {
  const sinceMs = useStudioSilence();
  if (sinceMs === null) return null;
  return (
    <p role="alert" className="border-b bg-bad-soft px-4 py-2 text-sm text-bad">
      <strong className="font-semibold">The studio has not answered since {formatClock(new Date(sinceMs).toISOString())}</strong>; the
      gateway runs on its own and still serves requests. This page shows the state from then and retries every few seconds.
    </p>
  );
}
