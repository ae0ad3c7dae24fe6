"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { FilePicker } from "../ui/FilePicker";
import { formatCounted } from "../ui/format";
import { uploadWorkload } from "../ui/uploadFile";

/** Imports a workload that another studio exported. */
export function LinesImport({ onDone }: { readonly onDone: (id: string) => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const file = useMutation({ mutationFn: uploadWorkload, onMutate: () => take.reset() });
  const take = useMutation({
    mutationFn: async (uploadId: string) => unwrapOutcome(await client.workloads.importLines.mutate({ uploadId })),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries(trpc.workloads.pathFilter());
      onDone(id);
    },
  });
  const survey = file.data?.survey;
  return (
    <>
      <FilePicker
        label="Workload file"
        hint="JSONL, up to 64 MB, as Export on a workload's page writes it. Errors are listed by line, and a damaged file is not imported."
        accept=".jsonl,.ndjson,application/jsonl,application/x-ndjson"
        sending={file}
        note={
          survey === undefined
            ? null
            : `“${survey.name}”: ${formatCounted(survey.prompts, "prompt")}, ${formatCounted(survey.arrivals, "arrival")}, answers of ${survey.models.join(", ")}.`
        }
        onFile={(chosen) => file.mutate(chosen)}
      />
      {survey !== undefined && <p className="text-xs text-ink-3 [overflow-wrap:anywhere]">Outcomes: {survey.outcomesFrom}.</p>}
      <ErrorLine error={take.error} />
      <div className="flex justify-end">
        <Button
          look="primary"
          disabled={file.data === undefined || take.isPending}
          onClick={() => file.data !== undefined && take.mutate(file.data.uploadId)}
        >
          Import workload
        </Button>
      </div>
    </>
  );
}
