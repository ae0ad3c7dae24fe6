"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { type Outputs, useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { Button } from "../ui/Button";
import { NumberField, SelectField, TextField } from "../ui/Field";
import { FormModal } from "../ui/FormModal";
import { formatCounted, formatUsd } from "../ui/format";

/** Nodes that are alike, as typed so far. */
interface NodeRow {
  readonly key: number;
  readonly nodes: number;
  readonly gpusPerNode: number;
  readonly gpu: string;
  /** null: the list price. */
  readonly usdPerGpuHour: number | null;
}

const FIRST_GPU = "h100-sxm";
const MOST_ROWS = 8;
const blank = { nodes: 4, gpusPerNode: 8, gpu: FIRST_GPU, usdPerGpuHour: null } as const;

/** Describes a cluster to plan for. */
export function DescribeCluster({ open, onOpenChange }: { readonly open: boolean; readonly onOpenChange: (open: boolean) => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const router = useRouter();
  const gpus = useQuery(trpc.clusters.gpus.queryOptions()).data ?? [];
  const [name, setName] = useState("");
  const [rows, setRows] = useState<readonly NodeRow[]>([{ key: 0, ...blank }]);
  const cardOf = (row: NodeRow) => gpus.find((each) => each.id === row.gpu) ?? gpus[0];
  const describe = useMutation({
    mutationFn: async () =>
      unwrapOutcome(
        await client.clusters.describe.mutate({
          name,
          rows: rows.map((row) => ({
            nodes: row.nodes,
            gpusPerNode: row.gpusPerNode,
            gpu: cardOf(row)?.id ?? FIRST_GPU,
            usdPerGpuHour: row.usdPerGpuHour ?? cardOf(row)?.usdPerGpuHour ?? 0,
          })),
        }),
      ),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries(trpc.clusters.pathFilter());
      router.push(`/plan?cluster=${encodeURIComponent(id)}`);
    },
  });
  const change = (row: NodeRow, part: Partial<NodeRow>) =>
    setRows(rows.map((each) => (each.key === row.key ? { ...each, ...part } : each)));
  // A type has one price: a row of a type that is there already begins with that row's.
  const priceOf = (type: string) => rows.find((row) => row.gpu === type)?.usdPerGpuHour ?? null;
  const total = rows.reduce((sum, row) => sum + row.nodes * row.gpusPerNode, 0);
  return (
    <FormModal
      open={open}
      onClose={() => onOpenChange(false)}
      title="Describe a cluster"
      description="To plan for hardware you do not have yet. Its plans can be exported; to apply and measure, attach the engines once they are there."
      // List prices have more digits than a step; what a number may be is checked as it is typed.
      noValidate
      act={describe}
      ready={name.trim() !== ""}
      onSubmit={() => describe.mutate()}
      keep={null}
      go="Describe cluster"
    >
      <TextField label="Name" value={name} maxLength={80} placeholder="such as prod-h100" onChange={setName} />
      <ul aria-label="Kinds of nodes" className="flex list-none flex-col gap-3">
        {rows.map((row, index) => (
          <li key={row.key}>
            <NodeFields
              legend={`Nodes ${index + 1}`}
              row={row}
              price={row.usdPerGpuHour ?? cardOf(row)?.usdPerGpuHour ?? 0}
              gpuId={cardOf(row)?.id ?? FIRST_GPU}
              gpus={gpus}
              onChange={(part) => change(row, part)}
              onType={(gpu) => change(row, { gpu, usdPerGpuHour: priceOf(gpu) })}
              onPrice={(usdPerGpuHour) => setRows(rows.map((each) => (each.gpu === row.gpu ? { ...each, usdPerGpuHour } : each)))}
              onRemove={rows.length === 1 ? null : () => setRows(rows.filter((each) => each.key !== row.key))}
            />
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap items-center gap-3">
        <Button
          disabled={rows.length === MOST_ROWS}
          onClick={() =>
            setRows([...rows, { key: 1 + Math.max(...rows.map(({ key }) => key)), ...blank, usdPerGpuHour: priceOf(FIRST_GPU) }])
          }
        >
          Add other nodes
        </Button>
        <span className="text-sm text-ink-3">{formatCounted(total, "GPU")} in all</span>
      </div>
    </FormModal>
  );
}

function NodeFields(props: {
  readonly legend: string;
  readonly row: NodeRow;
  readonly price: number;
  readonly gpuId: string;
  readonly gpus: Outputs["clusters"]["gpus"];
  readonly onChange: (part: Partial<NodeRow>) => void;
  readonly onType: (gpu: string) => void;
  readonly onPrice: (usdPerGpuHour: number) => void;
  /** null: the only row. */
  readonly onRemove: (() => void) | null;
}) {
  const { row, gpus, onChange } = props;
  return (
    <fieldset className="flex min-w-0 flex-wrap items-end gap-x-4 gap-y-2 rounded-md border p-3">
      <legend className="sr-only">{props.legend}</legend>
      <NumberField label="Nodes" min={1} max={128} whole value={row.nodes} onChange={(nodes) => onChange({ nodes })} />
      <NumberField
        label="GPUs per node"
        min={1}
        max={16}
        whole
        value={row.gpusPerNode}
        onChange={(gpusPerNode) => onChange({ gpusPerNode })}
      />
      <SelectField
        className="max-w-full flex-1 basis-48"
        label="GPU type"
        value={props.gpuId}
        options={gpus.map((each) => ({ value: each.id, text: `${each.name}, ${formatUsd(each.usdPerGpuHour)} an hour` }))}
        onChange={props.onType}
      />
      <NumberField label="Price per GPU hour" unit="$" min={0} max={1000} step={0.01} value={props.price} onChange={props.onPrice} />
      {props.onRemove !== null && (
        <Button look="quiet" className="ml-auto" aria-label={`Remove ${props.legend.toLowerCase()}`} onClick={props.onRemove}>
          Remove
        </Button>
      )}
    </fieldset>
  );
}
