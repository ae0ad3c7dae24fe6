"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { StateWord } from "../ui/Badge";
import { DataTable } from "../ui/DataTable";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { ConfirmedAct } from "./ConfirmedAct";
import { CreateToken } from "./CreateToken";
import { prepareTokens, type TokenRow } from "./prepareTokens";

function RevokeToken({ row }: { readonly row: TokenRow }) {
  const client = useTRPCClient();
  if (!row.canRevoke) return null;
  return (
    <ConfirmedAct
      button="Revoke"
      label={`Revoke the token ${row.label}`}
      title={`Revoke the token ${row.label}?`}
      description="Programs that send it are refused from the next call on, and its open streams end. It cannot be taken back: create another token instead."
      keep="Keep it"
      go="Revoke"
      act={() => client.people.revokeToken.mutate({ id: row.id })}
    />
  );
}

/** Keys of programs to the studio's API. */
export function TokensPanel({ nowMs }: { readonly nowMs: number }) {
  const query = useQuery(useTRPC().people.tokens.queryOptions());
  const rows = prepareTokens(query.data ?? [], nowMs);
  const status = queryStatus(query, {
    what: "Reading API tokens",
    empty: query.data?.length === 0 && {
      kind: "empty",
      title: "No API token",
      text: "A token lets a program, such as a build or the command line, call this studio with a role and until a day.",
    },
  });
  return (
    <Panel title="API tokens" aside={<CreateToken />}>
      <PanelState status={status}>
        {() => (
          <DataTable
            caption="API tokens"
            stacked
            rows={rows}
            rowKey={({ id }) => id}
            columns={[
              { name: "Label", className: "font-medium max-sm:basis-full [overflow-wrap:anywhere]", cell: ({ label }) => label },
              { name: "Role", labelled: true, cell: ({ role }) => role },
              { name: "Made by", labelled: true, className: "text-ink-2", cell: ({ madeBy }) => madeBy },
              { name: "Expires", labelled: true, className: "text-ink-2", cell: ({ expires }) => expires },
              { name: "Last used", labelled: true, className: "text-ink-2", cell: ({ lastUsed }) => lastUsed },
              { name: "State", cell: ({ state }) => <StateWord tone={state.tone}>{state.word}</StateWord> },
              { name: "Revoke", cell: (row) => <RevokeToken row={row} /> },
            ]}
          />
        )}
      </PanelState>
    </Panel>
  );
}
