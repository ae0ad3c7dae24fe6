"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { Badge } from "../ui/Badge";
import { DataTable } from "../ui/DataTable";
import { formatCounted } from "../ui/format";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { ConfirmedAct } from "./ConfirmedAct";
import { prepareSessions, type SessionRow } from "./prepareSessions";

function EndSession({ row }: { readonly row: SessionRow }) {
  const client = useTRPCClient();
  if (row.own) return <span className="text-xs text-ink-3">ends with Sign out</span>;
  return (
    <ConfirmedAct
      button="End"
      label={`End the session of ${row.person}, last used ${row.lastUsed}`}
      title={`End this session of ${row.person}?`}
      description={`Its open pages close at once and show the sign-in page. ${row.person} may sign in again.`}
      keep="Leave it open"
      go="End the session"
      act={() => client.people.endSession.mutate({ id: row.id })}
    />
  );
}

/** Browsers that are signed in. */
export function SessionsPanel({ nowMs }: { readonly nowMs: number }) {
  const client = useTRPCClient();
  const query = useQuery(useTRPC().people.sessions.queryOptions());
  const { rows, others } = prepareSessions(query.data ?? [], nowMs);
  const end = (
    <ConfirmedAct
      button="End all others"
      hindrance={others === 0 ? "There is no other session." : null}
      title="End all other sessions?"
      description={`${formatCounted(others, "session")} of all people end at once with their open pages. Yours stays. Everybody may sign in again.`}
      keep="Leave them open"
      go="End all others"
      act={() => client.people.endOtherSessions.mutate()}
    />
  );
  return (
    <Panel title="Sessions" aside={query.data !== undefined && end}>
      <PanelState status={queryStatus(query, { what: "Reading sessions" })}>
        {() => (
          <DataTable
            caption="Sessions"
            stacked
            rows={rows}
            rowKey={({ id }) => id}
            columns={[
              {
                name: "Person",
                className: "font-medium max-sm:basis-full",
                cell: ({ person, own }) => (
                  <span className="inline-flex flex-wrap items-center gap-2 [overflow-wrap:anywhere]">
                    {person}
                    {own && <Badge tone="accent">this session</Badge>}
                  </span>
                ),
              },
              { name: "Began", labelled: true, className: "text-ink-2", cell: ({ began }) => began },
              { name: "Last used", labelled: true, className: "text-ink-2", cell: ({ lastUsed }) => lastUsed },
              { name: "Expires", labelled: true, className: "text-ink-2", cell: ({ expires }) => expires },
              { name: "End", cell: (row) => <EndSession row={row} /> },
            ]}
          />
        )}
      </PanelState>
    </Panel>
  );
}
