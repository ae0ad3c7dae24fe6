"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../api/trpc";
import { useAllowed, useHindrance } from "../api/useMe";
import { CopyButton } from "../ui/CopyButton";
import { lockedStatus } from "../ui/lockedStatus";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";

const REFRESH_MS = 3_000;

/** The end of an engine's log as its host keeps it, followed while it is shown. */
export function EngineLogText({ clusterId, engineId }: { readonly clusterId: string; readonly engineId: string }) {
  const trpc = useTRPC();
  const hindrance = useHindrance("operate");
  const enabled = useAllowed("operate");
  const query = useQuery(
    trpc.clusters.engineLog.queryOptions({ clusterId, engineId }, { enabled, retry: false, staleTime: 0, refetchInterval: REFRESH_MS }),
  );
  const { data } = query;
  const text = data?.ok === true ? data.text : "";
  const refused = data?.ok === false && { kind: "empty" as const, title: "No log to show", text: data.message };
  const silent = text === "" && { kind: "empty" as const, title: "The log is empty", text: "The engine has written nothing yet." };
  return (
    <PanelState
      status={hindrance === null ? queryStatus(query, { what: "Reading the log", empty: refused || silent }) : lockedStatus(hindrance)}
    >
      {() => (
        <div className="flex min-w-0 flex-col items-start gap-2">
          <pre
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
            tabIndex={0}
            className="max-h-[55vh] w-full overflow-auto rounded-md bg-sunken p-2 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]"
          >
            {text}
          </pre>
          <CopyButton text={text} label="Copy" />
        </div>
      )}
    </PanelState>
  );
}
