"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Role } from "@/server/contracts/studio";
import { usePeopleAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { useMe } from "../api/useMe";
import { Badge, StateWord } from "../ui/Badge";
import { DataTable } from "../ui/DataTable";
import { FormModal } from "../ui/FormModal";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { ConfirmedAct } from "./ConfirmedAct";
import { type PersonRow, preparePeople, roleChangeText } from "./preparePeople";
import { roleOptions } from "./roleTexts";

/** The role of a person, changed after a confirmation. */
function RoleChoice({ row }: { readonly row: PersonRow }) {
  const client = useTRPCClient();
  const [wanted, setWanted] = useState<Role | null>(null);
  const act = usePeopleAct(
    (role: Role) => client.people.setRole.mutate({ id: row.id, role }),
    () => setWanted(null),
  );
  const close = () => {
    setWanted(null);
    act.reset();
  };
  return (
    <>
      <select
        aria-label={`Role of ${row.name}`}
        className="h-8 rounded-md border border-line-strong bg-raised px-2 text-sm text-ink disabled:opacity-60"
        value={row.role}
        disabled={row.roleHindrance !== null}
        title={row.roleHindrance ?? undefined}
        onChange={(event) => setWanted(roleOptions.find(({ value }) => value === event.target.value)?.value ?? null)}
      >
        {roleOptions.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <FormModal
        open={wanted !== null}
        onClose={close}
        title={`Make ${row.name} ${wanted === "viewer" ? "a" : "an"} ${wanted ?? row.role}?`}
        description={roleChangeText(row, wanted ?? row.role)}
        act={act}
        onSubmit={() => wanted !== null && act.mutate(wanted)}
        keep={`Stay ${row.role}`}
        go={act.isPending ? "Working …" : "Change the role"}
      />
    </>
  );
}

function SignInAct({ row }: { readonly row: PersonRow }) {
  const client = useTRPCClient();
  const { id, name, disabled } = row;
  const shared = {
    act: () => client.people.setDisabled.mutate({ id, disabled: !disabled }),
    label: `${disabled ? "Enable" : "Disable"} ${name}`,
  };
  return disabled ? (
    <ConfirmedAct
      {...shared}
      button="Enable"
      title={`Enable ${name}?`}
      description={`${name} may sign in again as ${row.role}, and API tokens of ${name} that are neither expired nor revoked work again.`}
      keep="Leave disabled"
      go="Enable"
      look="primary"
    />
  ) : (
    <ConfirmedAct
      {...shared}
      button="Disable"
      hindrance={row.disableHindrance}
      title={`Disable ${name}?`}
      description={`All sessions of ${name} end at once with their open pages, ${name} cannot sign in, and API tokens of ${name} are refused. Plans and audit lines stay.`}
      keep="Leave enabled"
      go="Disable"
    />
  );
}

/** Who may sign in, with which role. */
export function PeoplePanel() {
  const query = useQuery(useTRPC().people.list.queryOptions());
  const me = useMe();
  const rows = preparePeople(query.data ?? [], me);
  return (
    <Panel title="People" aside={query.data !== undefined && (rows.length === 1 ? "1 person" : `${rows.length} people`)}>
      <PanelState status={queryStatus(query, { what: "Reading people" })}>
        {() => (
          <DataTable
            caption="People"
            stacked
            rows={rows}
            rowKey={({ id }) => id}
            columns={[
              {
                name: "Name",
                className: "font-medium max-sm:basis-full",
                cell: ({ name, own }) => (
                  <span className="inline-flex flex-wrap items-center gap-2 [overflow-wrap:anywhere]">
                    {name}
                    {own && <Badge tone="accent">you</Badge>}
                  </span>
                ),
              },
              { name: "Role", cell: (row) => <RoleChoice row={row} /> },
              { name: "From", labelled: true, className: "text-ink-2", cell: ({ from }) => from },
              { name: "Last sign-in", labelled: true, className: "text-ink-2", cell: ({ lastSignIn }) => lastSignIn },
              { name: "State", cell: ({ state }) => <StateWord tone={state.tone}>{state.word}</StateWord> },
              {
                name: "Sign-in",
                cell: (row) => (
                  <span className="flex flex-wrap items-center gap-2">
                    <SignInAct row={row} />
                  </span>
                ),
              },
            ]}
          />
        )}
      </PanelState>
    </Panel>
  );
}
