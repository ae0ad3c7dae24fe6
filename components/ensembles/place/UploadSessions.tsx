"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useEnsembleAct } from "@/components/api/acts";
import { useTRPCClient } from "@/components/api/trpc";
import { Button } from "@/components/ui/Button";
import { ErrorLine } from "@/components/ui/ErrorLine";
import { FilePicker } from "@/components/ui/FilePicker";
import { formatCounted } from "@/components/ui/format";
import { PermittedButton } from "@/components/ui/PermittedButton";
import { uploadSessions } from "@/components/ui/uploadFile";

/** A table of measured sessions: uploaded, checked, and stored after a confirmation. */
export function UploadSessions({ onKept }: { readonly onKept: () => void }) {
  const client = useTRPCClient();
  const sent = useMutation({ mutationFn: uploadSessions });
  // A file chooser that still shows a file does not accept the same file again.
  const [round, setRound] = useState(0);
  const leave = () => {
    sent.reset();
    setRound((old) => old + 1);
  };
  const keep = useEnsembleAct(client.ensembles.keepSessions.mutate, () => {
    leave();
    onKept();
  });
  return (
    <form
      className="flex flex-col gap-3 border-t pt-3"
      aria-label="Upload measured sessions"
      onSubmit={(event) => {
        event.preventDefault();
        if (sent.data !== undefined && !keep.isPending) keep.mutate({ uploadId: sent.data.uploadId });
      }}
    >
      <FilePicker
        key={round}
        label="Table of measured sessions"
        hint="CSV, a session a row: model, gpu, tp, prompts, mean_output_tokens, max_output_tokens, seconds from the first prompt to the last answer; where they are known concurrency, load_seconds, origin (measured or emulated). A row of 0 prompts is a load alone."
        sending={sent}
        note={
          sent.data === undefined
            ? null
            : `${formatCounted(sent.data.survey.rows, "row")} of ${sent.data.survey.models.join(", ")}, on ${sent.data.survey.gpus.join(", ")}.`
        }
        onFile={(file) => {
          keep.reset();
          sent.mutate(file);
        }}
      />
      <ErrorLine error={keep.error} />
      {sent.data !== undefined && (
        <div className="flex flex-wrap gap-2">
          <PermittedButton permission="prepare" type="submit" look="primary" disabled={keep.isPending}>
            {keep.isPending ? "Saving …" : "Save them"}
          </PermittedButton>
          <Button onClick={leave}>Discard them</Button>
        </div>
      )}
      {keep.isSuccess && (
        <p role="status" className="text-sm text-ink-2">
          Kept {formatCounted(keep.data.rows, "row")}: placements take them into account from now on.
        </p>
      )}
    </form>
  );
}
