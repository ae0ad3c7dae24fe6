"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { takeOutcome } from "../api/takeOutcome";
import { type Inputs, useTRPC, useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { NumberField, SelectField, TextField } from "../ui/Field";
import { formatUsd } from "../ui/format";
import { Modal } from "../ui/Modal";

type Description = Inputs["clusters"]["describe"];

const blank: Description = { name: "", gpu: "h100-sxm", nodes: 4, gpusPerNode: 8, usdPerGpuHour: 0 };

/** Describes a cluster to plan for. */
export function DescribeCluster({ open, onOpenChange }: { readonly open: boolean; readonly onOpenChange: (open: boolean) => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const router = useRouter();
  const gpus = useQuery(trpc.clusters.gpus.queryOptions()).data ?? [];
  const [form, setForm] = useState<Omit<Description, "usdPerGpuHour"> & { readonly usdPerGpuHour: number | null }>({
    ...blank,
    usdPerGpuHour: null,
  });
  const gpu = gpus.find((each) => each.id === form.gpu) ?? gpus[0];
  const usdPerGpuHour = form.usdPerGpuHour ?? gpu?.usdPerGpuHour ?? 0;
  const describe = useMutation({
    mutationFn: async () => takeOutcome(await client.clusters.describe.mutate({ ...form, gpu: gpu?.id ?? form.gpu, usdPerGpuHour })),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries(trpc.clusters.pathFilter());
      router.push(`/plan?cluster=${encodeURIComponent(id)}`);
    },
  });
  return (
    <Modal
      open={open}
      onOpenChange={onOpenChange}
      title="Describe a cluster"
      description="Plans can be made for a described cluster and exported. Attaching engines that already run is not possible yet: applying and measuring work on the embedded cluster only."
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          describe.mutate();
        }}
      >
        <TextField
          label="Name"
          value={form.name}
          maxLength={80}
          placeholder="such as prod-h100"
          onChange={(name) => setForm({ ...form, name })}
        />
        <SelectField
          label="GPU type"
          value={gpu?.id ?? form.gpu}
          options={gpus.map((each) => ({ value: each.id, text: `${each.name}, ${formatUsd(each.usdPerGpuHour)} an hour` }))}
          onChange={(id) => setForm({ ...form, gpu: id, usdPerGpuHour: null })}
        />
        <div className="flex flex-wrap gap-4">
          <NumberField
            label="Nodes"
            min={1}
            max={128}
            value={form.nodes}
            onChange={(nodes) => setForm({ ...form, nodes: Math.round(nodes) })}
          />
          <NumberField
            label="GPUs per node"
            min={1}
            max={16}
            value={form.gpusPerNode}
            onChange={(gpusPerNode) => setForm({ ...form, gpusPerNode: Math.round(gpusPerNode) })}
          />
          <NumberField
            label="Price"
            unit="$ per GPU and hour"
            min={0}
            max={1000}
            step={0.01}
            value={usdPerGpuHour}
            onChange={(price) => setForm({ ...form, usdPerGpuHour: price })}
          />
        </div>
        {describe.error !== null && (
          <p role="alert" className="text-sm text-bad">
            {describe.error.message}
          </p>
        )}
        <div className="flex justify-end">
          <Button type="submit" look="primary" disabled={describe.isPending || form.name.trim() === ""}>
            Describe cluster
          </Button>
        </div>
      </form>
    </Modal>
  );
}
