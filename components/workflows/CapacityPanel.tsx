"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { CapacityCurve } from "@/server/contracts/studio";
import { takeOutcome } from "../api/takeOutcome";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { LineChart } from "../charts/LineChart";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { SelectField } from "../ui/Field";
import { Panel } from "../ui/Panel";
import { PanelState, type PanelStatus } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { Table } from "../ui/Table";
import { prepareCapacity } from "./prepareCapacity";

const columns = [
  { key: "admitted", name: "Configurations admitted" },
  { key: "rate", name: "Programs a second", numeric: true },
  { key: "times", name: "Of the largest", numeric: true },
  { key: "quality", name: "Quality", numeric: true },
  { key: "loss", name: "Beside the largest", numeric: true },
] as const;

function Curve({ curve, workflow }: { readonly curve: CapacityCurve; readonly workflow: string }) {
  const { lines, rows, says } = useMemo(() => prepareCapacity(curve, workflow), [curve, workflow]);
  return (
    <div className="flex flex-col gap-3" data-testid="capacity">
      {lines !== null && <LineChart picture={lines} summary={says} testId="capacity-chart" />}
      <p className="text-xs text-ink-3">
        J: just in time, beside it the share of configurations that count as accurate, in the mean over programs. L: the largest models
        throughout. All of it is modelled, none measured.
      </p>
      <Table caption="Quality and capacity as fewer configurations are admitted, modelled" columns={columns} stacked>
        {rows.map((row) => (
          <tr key={row.key}>
            <td data-name="admitted">{row.admitted}</td>
            <td data-name="programs a second" className="text-right">
              {row.rate}
            </td>
            <td data-name="of the largest" className="text-right">
              {row.timesLargest}
            </td>
            <td data-name="quality" className="text-right">
              {row.quality}
            </td>
            <td data-name="beside the largest" className="text-right">
              {row.loss}
            </td>
          </tr>
        ))}
      </Table>
      <ul aria-label="How it was worked out" className="list-disc pl-5 text-xs text-ink-3">
        {curve.notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </div>
  );
}

/** What the set of admitted configurations is worth: accuracy against capacity on the engines of a plan. Asked for by a button, since it takes seconds. */
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
    queryFn: async ({ signal }) => takeOutcome(await client.declaredWorkflows.capacity.query(request, { signal })).curve,
    enabled: asked === workloadId,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const unasked: PanelStatus = {
    kind: "empty",
    title: "Not worked out yet",
    text: `Programs of ${workflow} are modelled of the workload's labels and simulated at saturation on the engines of ${planName}, with more and fewer configurations admitted. It takes some seconds.`,
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
            query.data === undefined && <Button onClick={() => setAsked(workloadId)}>Work it out</Button>
          )}
        </div>
        <PanelState status={status}>{() => query.data !== undefined && <Curve curve={query.data} workflow={workflow} />}</PanelState>
      </div>
    </Panel>
  );
}
