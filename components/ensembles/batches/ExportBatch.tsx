"use client";

import { useAct } from "@/components/api/acts";
import { useTRPCClient } from "@/components/api/trpc";
import { Button } from "@/components/ui/Button";
import { ErrorLine } from "@/components/ui/ErrorLine";
import { saveText } from "@/components/ui/saveText";
import type { BatchExport, BatchRequest } from "@/server/contracts/studio";

const formats: readonly { readonly format: BatchExport["format"]; readonly name: string }[] = [
  { format: "kubernetes", name: "Kubernetes" },
  { format: "ray", name: "Ray" },
];

/** A planned or started batch as a job file with its prompts, to be run by another system. */
export function ExportBatch({ of }: { readonly of: { readonly request: BatchRequest } | { readonly batchId: string } | null }) {
  const client = useTRPCClient();
  const save = useAct(client.batches.export.mutate, ({ name, text }) => saveText(name, text));
  return (
    <fieldset className="flex flex-wrap items-center gap-2 text-sm">
      <legend className="float-left mr-2 text-ink-2">Job file for</legend>
      {formats.map(({ format, name }) => (
        <Button key={format} disabled={of === null || save.isPending} onClick={() => of !== null && save.mutate({ ...of, format })}>
          {name}
        </Button>
      ))}
      <span role="status" className="text-xs text-ink-3">
        {save.isPending && "Writing it …"}
        {save.isSuccess && `Saved as ${save.data.name}`}
      </span>
      <ErrorLine error={save.error} />
    </fieldset>
  );
}
