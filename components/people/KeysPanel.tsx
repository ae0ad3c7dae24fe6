"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ClusterSummary } from "@/server/contracts/studio";
import { usePeopleAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { StateWord } from "../ui/Badge";
import { Button } from "../ui/Button";
import { DataTable } from "../ui/DataTable";
import { FormModal } from "../ui/FormModal";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { ChangeLimits } from "./ChangeLimits";
import { ConfirmedAct } from "./ConfirmedAct";
import { CreateKey } from "./CreateKey";
import { ExpiryFields } from "./ExpiryFields";
import { type KeyRow, prepareKeys, revokeKeyText } from "./prepareKeys";

const REFRESH_MS = 15_000;

function ChangeExpiry({ clusterId, name }: { readonly clusterId: string; readonly name: string }) {
  const client = useTRPCClient();
  const [open, setOpen] = useState(false);
  const [days, setDays] = useState<number | null>(90);
  const act = usePeopleAct(
    () => client.gatewayKeys.setExpiry.mutate({ clusterId, name, days }),
    () => setOpen(false),
  );
  const close = () => {
    setOpen(false);
    act.reset();
  };
  return (
    <>
      <Button aria-label={`Change the expiry of ${name}`} onClick={() => setOpen(true)}>
        Expiry
      </Button>
      <FormModal
        open={open}
        onClose={close}
        title={`When does ${name} expire?`}
        description="The gateway refuses it from then on. An expired key is accepted again with a later expiry."
        act={act}
        onSubmit={() => act.mutate()}
        go={act.isPending ? "Waiting for the gateway …" : "Set the expiry"}
      >
        <ExpiryFields days={days} onChange={setDays} />
      </FormModal>
    </>
  );
}

function KeyActs(props: {
  readonly clusterId: string;
  readonly row: KeyRow;
  readonly rows: readonly KeyRow[];
  readonly classes: readonly string[];
}) {
  const { clusterId, row } = props;
  const client = useTRPCClient();
  if (row.isRevoked) return null;
  return (
    <span className="flex flex-wrap gap-2">
      <ChangeLimits clusterId={clusterId} row={row} classes={props.classes} />
      <ChangeExpiry clusterId={clusterId} name={row.name} />
      <ConfirmedAct
        button="Revoke"
        label={`Revoke the key ${row.name}`}
        title={`Revoke the key ${row.name}?`}
        description={revokeKeyText(row, props.rows)}
        keep="Keep it"
        go="Revoke"
        act={() => client.gatewayKeys.revoke.mutate({ clusterId, name: row.name })}
      />
    </span>
  );
}

function LimitList({ row: { limits, models } }: { readonly row: KeyRow }) {
  if (limits.length === 0 && models === null) return <span className="text-ink-2">none</span>;
  return (
    <ul className="flex flex-col gap-0.5">
      {limits.map(({ name, text, tone, resets }) => (
        <li key={name} className="text-ink-2" title={resets}>
          {tone === "neutral" ? text : <StateWord tone={tone}>{text}</StateWord>}
        </li>
      ))}
      {models !== null && <li className="text-xs text-ink-3 [overflow-wrap:anywhere]">only {models}</li>}
    </ul>
  );
}

/** Keys of the clients of a cluster's gateway. */
export function KeysPanel({ cluster, nowMs }: { readonly cluster: ClusterSummary; readonly nowMs: number }) {
  const { id: clusterId, name: clusterName } = cluster.spec;
  const connected = cluster.health.state !== "not-connected";
  const query = useQuery(
    useTRPC().gatewayKeys.list.queryOptions(
      { clusterId },
      { select: unwrapOutcome, retry: false, enabled: connected, refetchInterval: REFRESH_MS },
    ),
  );
  const { rows, access, createText } = prepareKeys(query.data?.keys ?? null, nowMs);
  const classes = query.data?.classes ?? [];
  const create = <CreateKey key={clusterId} clusterId={clusterId} clusterName={clusterName} says={createText} classes={classes} />;
  const status = connected
    ? queryStatus(query, {
        what: "Asking the gateway for its keys",
        empty: query.data !== undefined && rows.length === 0 && { kind: "empty", title: "No key", text: access },
      })
    : ({ kind: "empty", title: "No gateway", text: `${clusterName} is not connected, so it has no gateway with keys.` } as const);
  return (
    <Panel title={`Gateway keys of ${clusterName}`} aside={query.data !== undefined && create}>
      <PanelState status={status}>
        {() => (
          <>
            <p className="mb-2 text-sm text-ink-2">{access}</p>
            <DataTable
              caption={`Gateway keys of ${clusterName}`}
              stacked
              rows={rows}
              rowKey={({ name }) => name}
              columns={[
                {
                  name: "Label",
                  className: "font-medium max-sm:basis-full [overflow-wrap:anywhere]",
                  cell: ({ name, owner }) => (
                    <>
                      {name}
                      {owner !== "" && <span className="block text-xs font-normal text-ink-3">{owner}</span>}
                    </>
                  ),
                },
                { name: "Rate", numeric: true, cell: ({ rate }) => rate },
                { name: "Limits", labelled: true, className: "max-sm:basis-full", cell: (row) => <LimitList row={row} /> },
                { name: "Class of work", labelled: true, className: "text-ink-2", cell: ({ objective }) => objective },
                { name: "Expires", labelled: true, className: "text-ink-2", cell: ({ expires }) => expires },
                { name: "Last used", labelled: true, className: "text-ink-2", cell: ({ lastUsed }) => lastUsed },
                { name: "State", cell: ({ state }) => <StateWord tone={state.tone}>{state.word}</StateWord> },
                { name: "Change", cell: (row) => <KeyActs clusterId={clusterId} row={row} rows={rows} classes={classes} /> },
              ]}
            />
          </>
        )}
      </PanelState>
    </Panel>
  );
}
