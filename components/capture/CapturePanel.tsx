"use client";

import { Panel } from "../ui/Panel";

/** What is kept of a cluster's live traffic for samples of prompts, and the way to begin, end and erase it. */
export function CapturePanel({ clusterId }: { readonly clusterId: string }) {
  return <Panel title="Capture of live traffic">{clusterId}</Panel>;
}
