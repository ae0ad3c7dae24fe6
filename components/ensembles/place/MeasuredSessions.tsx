"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { useEnsembleAct } from "@/components/api/acts";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { Badge } from "@/components/ui/Badge";
import { DataTable } from "@/components/ui/DataTable";
import { ModelName } from "@/components/ui/ModelChip";
import { PanelState } from "@/components/ui/PanelState";
import { queryStatus } from "@/components/ui/queryStatus";
import { RemoveButton } from "@/components/ui/RemoveButton";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import type { EnsemblePlacement } from "@/server/contracts/studio";
import { type MeasuredRow, measuredRows, measuredSays, unmeasuredSays } from "./prepareMeasured";
import { UploadSessions } from "./UploadSessions";
import { placementKey } from "./usePlacement";

function RemoveSessions({ row, onRemoved }: { readonly row: MeasuredRow; readonly onRemoved: () => void }) {
  const client = useTRPCClient();
  const remove = useEnsembleAct(() => client.ensembles.removeSessions.mutate(row.of), onRemoved);
  return (
    <RemoveButton
      name={`${row.of.model} on ${row.engine}`}
      kind="sessions"
      nameInLabel
      consequences="Its measured sessions and loads are deleted, and placements are simulated again where nothing else was measured. Sessions from a file can be imported again; sessions of batches are lost."
      removal={remove}
    />
  );
}

/** Measured sessions, to which placements are fitted: the existing rows and their use, upload of more, and removal of wrong ones. */
export function MeasuredSessions({ placement }: { readonly placement: EnsemblePlacement | null }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const query = useQuery(trpc.ensembles.sessions.queryOptions());
  const groups = useMemo(() => query.data ?? [], [query.data]);
  const rows = useMemo(() => measuredRows(groups, placement), [groups, placement]);
  const identities = useModelIdentities(groups.map(({ model }) => model));
  const unmeasured = unmeasuredSays(groups, placement);
  const onChanged = () => void queries.invalidateQueries({ queryKey: [placementKey] });
  const status = queryStatus(query, {
    what: "Reading measured sessions",
    empty: groups.length === 0 && {
      kind: "empty",
      title: "No measured session yet",
      text: "Until then placements are simulated and loads estimated. A batch on real engines stores its measured sessions here. Sessions of job files and of other profiling come as a table: upload it below, or run weir import sessions.",
    },
  });
  return (
    <details className="min-w-0 rounded-lg border bg-panel px-4 py-2.5" data-testid="measured">
      <summary className="text-sm font-semibold">
        Measured sessions <span className="font-normal text-ink-3">{query.data === undefined ? "" : measuredSays(groups)}</span>
      </summary>
      <div className="mt-3 flex flex-col gap-4">
        <PanelState status={status}>
          {() => (
            <div className="flex flex-col gap-3">
              <DataTable
                caption="Measured sessions by model and engine"
                stacked
                rows={rows}
                rowKey={(row) => row.key}
                rowClass="align-top"
                columns={[
                  {
                    name: "Model",
                    className: "whitespace-nowrap",
                    cell: (row) => <ModelName model={row.of.model} identities={identities} />,
                  },
                  { name: "Engine", labelled: true, className: "whitespace-nowrap", cell: (row) => row.engine },
                  {
                    name: "Sessions",
                    numeric: true,
                    cell: (row) => (
                      <>
                        {row.sessions}
                        {row.emulated !== "" && (
                          <div className="mt-0.5">
                            <Badge tone="hatched">{row.emulated}</Badge>
                          </div>
                        )}
                      </>
                    ),
                  },
                  { name: "Prompts", numeric: true, cell: (row) => row.prompts },
                  { name: "Output tokens", numeric: true, cell: (row) => row.output },
                  { name: "Answered in", numeric: true, cell: (row) => row.seconds },
                  { name: "Loaded in", numeric: true, cell: (row) => row.load },
                  { name: "Latest", labelled: true, className: "whitespace-nowrap text-ink-3", cell: (row) => row.latest },
                  {
                    name: "In this placement",
                    className: "min-w-64",
                    cell: (row) => (
                      <div className="flex items-start justify-between gap-3">
                        <span className="text-ink-2">{row.use}</span>
                        <RemoveSessions row={row} onRemoved={onChanged} />
                      </div>
                    ),
                  },
                ]}
              />
              {unmeasured !== null && <p className="text-sm text-ink-2">{unmeasured}</p>}
            </div>
          )}
        </PanelState>
        <UploadSessions onKept={onChanged} />
      </div>
    </details>
  );
}
