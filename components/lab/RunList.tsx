"use client";

import { useQuery } from "@tanstack/react-query";
import type { LabRunSummary } from "@/server/contracts/studio";
import { useLabAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { ClusterLink } from "../shell/ClusterLink";
import { StateWord } from "../ui/Badge";
import { formatDate, shortHash } from "../ui/format";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { RemoveButton } from "../ui/RemoveButton";
import { Table } from "../ui/Table";
import { progressText, stateTones, summaryText } from "./prepareRun";

const REFRESH_MS = 2_000;

const columns = [
  { key: "run", name: "Run" },
  { key: "at", name: "Started" },
  { key: "of", name: "Of" },
  { key: "systems", name: "Systems" },
  { key: "state", name: "State" },
  { key: "remove", name: "Forget", numeric: true },
] as const;

function RunRow({ run }: { readonly run: LabRunSummary }) {
  const client = useTRPCClient();
  const remove = useLabAct(() => client.lab.remove.mutate({ id: run.id }));
  return (
    <tr className="align-top">
      <td>
        <ClusterLink to={`/lab?run=${run.id}`} className="font-mono text-accent underline-offset-2 hover:underline">
          {shortHash(run.id)}
        </ClusterLink>
      </td>
      <td className="whitespace-nowrap">{formatDate(run.createdAt)}</td>
      <td>{summaryText(run)}</td>
      <td className="text-xs text-ink-2">{run.systems.join("; ")}</td>
      <td>
        <StateWord tone={stateTones[run.state]}>{run.state}</StateWord>
        <p className="text-xs text-ink-3">{run.problem ?? progressText(run)}</p>
      </td>
      <td className="text-right">
        {run.state !== "running" && (
          <RemoveButton
            name={`run ${shortHash(run.id)}`}
            kind="run"
            nameInLabel
            consequences="Its figures are deleted. A link copied from its page still describes it, and running it again with the same cards, profile, texts and release gives the same figures."
            removal={remove}
          />
        )}
      </td>
    </tr>
  );
}

/** Past runs, newest first. */
export function RunList() {
  const query = useQuery(
    useTRPC().lab.list.queryOptions(undefined, {
      staleTime: 0,
      refetchInterval: ({ state }) => (state.data?.some((run) => run.state === "running") ? REFRESH_MS : false),
    }),
  );
  const status = queryStatus(query, {
    what: "Reading runs",
    empty: query.data?.length === 0 && { kind: "empty", title: "No run yet", text: "Each race is stored here with its figures." },
  });
  return (
    <Panel title="Runs">
      <PanelState status={status}>
        {() => (
          <Table caption="Runs of the lab" columns={columns}>
            {(query.data ?? []).map((run) => (
              <RunRow key={run.id} run={run} />
            ))}
          </Table>
        )}
      </PanelState>
    </Panel>
  );
}
