"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ClusterSummary } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { DataTable } from "../ui/DataTable";
import { DownloadButton } from "../ui/DownloadButton";
import { DayField, SelectField } from "../ui/Field";
import { Panel } from "../ui/Panel";
import { PanelState, type PanelStatus } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { prepareKeyUsage, type UsageGroup } from "./prepareKeyUsage";

const DAY_MS = 86_400_000;
const FIRST_DAYS = 30;
const REFRESH_MS = 30_000;

const GROUPS: readonly { readonly value: UsageGroup; readonly text: string }[] = [
  { value: "key", text: "key" },
  { value: "model", text: "model" },
  { value: "day", text: "day" },
  { value: "all", text: "day, key and model" },
];

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** What requests with the keys of a cluster's gateway used, in a range of days. */
export function KeyUsagePanel({ cluster, nowMs }: { readonly cluster: ClusterSummary; readonly nowMs: number }) {
  const { id: clusterId, name: clusterName } = cluster.spec;
  const connected = cluster.health.state !== "not-connected";
  const [range, setRange] = useState({ from: dayOf(nowMs - (FIRST_DAYS - 1) * DAY_MS), to: dayOf(nowMs) });
  const [by, setBy] = useState<UsageGroup>("key");
  const isRange = range.from !== "" && range.to !== "";
  const query = useQuery(
    useTRPC().gatewayKeys.usage.queryOptions(
      { clusterId, ...range },
      { select: unwrapOutcome, retry: false, enabled: connected && isRange, refetchInterval: REFRESH_MS },
    ),
  );
  const { rows, total } = prepareKeyUsage(query.data?.rows ?? [], by);
  const path = `/api/keys/usage?${new URLSearchParams({ clusterId, ...range })}`;
  return (
    <Panel
      title={`Use of the keys of ${clusterName}`}
      aside={query.data !== undefined && rows.length > 0 && <DownloadButton path={path}>Download CSV</DownloadButton>}
    >
      <div className="mb-3 flex flex-wrap items-end gap-3">
        <DayField label="From (UTC)" value={range.from} onChange={(from) => setRange({ ...range, from })} />
        <DayField label="To" value={range.to} onChange={(to) => setRange({ ...range, to })} />
        <SelectField label="By" value={by} options={GROUPS} onChange={setBy} />
      </div>
      <PanelState status={statusOf({ connected, isRange, clusterName, query, isEmpty: rows.length === 0 })}>
        {() => (
          <DataTable
            caption={`Use of the keys of ${clusterName}`}
            stacked
            rows={[...rows, total]}
            rowKey={({ name }) => name}
            columns={[
              { name: "Of", className: "font-medium max-sm:basis-full [overflow-wrap:anywhere]", cell: ({ name }) => name },
              { name: "Requests", numeric: true, cell: ({ requests }) => requests },
              { name: "Tokens", numeric: true, cell: ({ tokens }) => tokens },
              { name: "Cost", numeric: true, cell: ({ usd }) => usd },
            ]}
          />
        )}
      </PanelState>
    </Panel>
  );
}

function statusOf(of: {
  readonly connected: boolean;
  readonly isRange: boolean;
  readonly clusterName: string;
  readonly query: Parameters<typeof queryStatus>[0];
  readonly isEmpty: boolean;
}): PanelStatus {
  if (!of.connected) return { kind: "empty", title: "No gateway", text: `${of.clusterName} is not connected, so no use is known.` };
  if (!of.isRange) return { kind: "empty", title: "No days", text: "Give the first and the last day." };
  const empty = { kind: "empty", title: "No use", text: "No request with a key was answered in these days." } as const;
  return queryStatus(of.query, { what: "Asking the gateway for the use of its keys", empty: of.isEmpty && empty });
}
