"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { unwrapOutcome } from "@/components/api/unwrapOutcome";
import { LineChart } from "@/components/charts/LineChart";
import { Badge } from "@/components/ui/Badge";
import { Button } from "@/components/ui/Button";
import { DataTable } from "@/components/ui/DataTable";
import { SelectField } from "@/components/ui/Field";
import { NoteList } from "@/components/ui/Notes";
import { Panel } from "@/components/ui/Panel";
import { PanelState, type PanelStatus } from "@/components/ui/PanelState";
import { queryStatus } from "@/components/ui/queryStatus";
import type { CapacityCurve } from "@/server/contracts/studio";
import { prepareCapacity } from "./prepareCapacity";

function Curve({ curve, workflow }: { readonly curve: CapacityCurve; readonly workflow: string }) {
  const { lines, rows, says } = useMemo(() => prepareCapacity(curve, workflow), [curve, workflow]);
  return (
    <div className="flex flex-col gap-3" data-testid="capacity">
      {lines !== null && <LineChart picture={lines} summary={says} testId="capacity-chart" />}
      <p className="text-xs text-ink-3">
        J: just in time, with the mean share of configurations that count as accurate. L: the largest models throughout. All figures are
        modelled, none measured.
      </p>
      <DataTable
        caption="Quality and capacity as fewer configurations are admitted, modelled"
        stacked
        rows={rows}
        rowKey={(row) => row.key}
        columns={[
          { name: "Configurations admitted", labelled: true, cell: (row) => row.admitted },
          { name: "Programs a second", numeric: true, cell: (row) => row.rate },
          { name: "Of the largest", numeric: true, cell: (row) => row.timesLargest },
          { name: "Quality", numeric: true, cell: (row) => row.quality },
          { name: "Compared with the largest", numeric: true, cell: (row) => row.loss },
        ]}
      />
      <NoteList label="How it was computed" items={curve.notes} className="list-disc pl-5 text-xs text-ink-3" />
    </div>
  );
}

/**
 * The value of the set of admitted configurations: accuracy against capacity on the engines of a plan. Computed on a button, because it
 * takes seconds.
 */
export function CapacityPanel(props: {
  readonly workflow: string;
  readonly planId: string;
  readonly planName: string;
  readonly planWorkloadId: string;
}) {
  const { workflow, planId, planName } = props;
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const workloads = useQuery(trpc.workloads.list.queryOptions()).data ?? [];
  const [named, setNamed] = useState(props.planWorkloadId);
  const [asked, setAsked] = useState<string | null>(null);
  const workloadId = workloads.some(({ id }) => id === named) ? named : (workloads[0]?.id ?? named);
  const request = { planId, workloadId, workflow };
  const queryKey = trpc.declaredWorkflows.capacity.queryKey(request);
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => unwrapOutcome(await client.declaredWorkflows.capacity.query(request, { signal })).curve,
    enabled: asked === workloadId,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const unasked: PanelStatus = {
    kind: "empty",
    title: "Not computed yet",
    text: `Programs of ${workflow} are modelled from the workload's labels and simulated at saturation on the engines of ${planName}, with more and fewer configurations admitted. This takes a few seconds.`,
  };
  const status = asked === workloadId || query.data !== undefined ? queryStatus(query, { what: "Simulating programs" }) : unasked;
  return (
    <Panel title="Accuracy against capacity" aside={<Badge tone="hatched">modelled</Badge>}>
      <div className="flex flex-col gap-3">
        <div className="flex flex-wrap items-end gap-3">
          <SelectField
            className="w-72 max-w-full"
            label="Workload"
            value={workloadId}
            options={workloads.map(({ id, name, version }) => ({ value: id, text: `${name} v${version}` }))}
            onChange={setNamed}
          />
          {query.isFetching ? (
            <Button
              onClick={() => {
                setAsked(null);
                void queries.cancelQueries({ queryKey, exact: true });
              }}
            >
              Cancel
            </Button>
          ) : (
            query.data === undefined && <Button onClick={() => setAsked(workloadId)}>Compute</Button>
          )}
        </div>
        <PanelState status={status}>{() => query.data !== undefined && <Curve curve={query.data} workflow={workflow} />}</PanelState>
      </div>
    </Panel>
  );
}
