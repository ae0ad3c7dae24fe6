"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "../api/trpc";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";

const REFRESH_MS = 3_000;

function Log({ clusterId, engineId }: { readonly clusterId: string; readonly engineId: string }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.clusters.engineLog.queryOptions({ clusterId, engineId }, { staleTime: 0, refetchInterval: REFRESH_MS }));
  const { data } = query;
  const refused = data?.ok === false && { kind: "empty" as const, title: "No log to show", text: data.message };
  const silent = data?.ok === true &&
    data.text === "" && { kind: "empty" as const, title: "Nothing in it", text: "The engine has not written anything yet." };
  return (
    <PanelState status={queryStatus(query, { what: "Reading the log", empty: refused || silent })}>
      {() => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
        <pre tabIndex={0} className="my-1 max-h-64 overflow-auto rounded bg-sunken p-2 font-mono text-xs">
          {data?.ok === true && data.text}
        </pre>
      )}
    </PanelState>
  );
}

/** What an engine wrote last, followed while it is open. */
export function EngineLog({ clusterId, engineId }: { readonly clusterId: string; readonly engineId: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="min-w-0 open:basis-full" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="text-xs text-ink-3">
        Log<span className="sr-only"> of {engineId}</span>
      </summary>
      {open && <Log clusterId={clusterId} engineId={engineId} />}
    </details>
  );
}
