"use client";

import { useState } from "react";
import { useBatchAct } from "@/components/api/acts";
import { useTRPCClient } from "@/components/api/trpc";
import { Button } from "@/components/ui/Button";
import { ErrorLine } from "@/components/ui/ErrorLine";
import { FormModal } from "@/components/ui/FormModal";
import { RemoveButton } from "@/components/ui/RemoveButton";
import type { BatchSummary } from "@/server/contracts/studio";

/** The actions on a batch: pause, resume, stop permanently after a confirmation, or remove a finished one. */
export function BatchActions({ batch, onRemoved }: { readonly batch: BatchSummary; readonly onRemoved: () => void }) {
  const { id, name, state } = batch;
  const client = useTRPCClient();
  const [open, setOpen] = useState(false);
  const pause = useBatchAct(() => client.batches.pause.mutate({ id }));
  const resume = useBatchAct(() => client.batches.resume.mutate({ id }));
  const stop = useBatchAct(
    () => client.batches.stop.mutate({ id }),
    () => setOpen(false),
  );
  const remove = useBatchAct(() => client.batches.remove.mutate({ id }), onRemoved);
  const over = state === "done" || state === "stopped";
  return (
    <div className="flex flex-wrap items-center gap-2">
      <ErrorLine error={pause.error ?? resume.error} />
      {state === "running" && (
        <Button disabled={pause.isPending} onClick={() => pause.mutate()}>
          {pause.isPending ? "Pausing …" : "Pause"}
        </Button>
      )}
      {state === "paused" && (
        <Button look="primary" disabled={resume.isPending} onClick={() => resume.mutate()}>
          {resume.isPending ? "Resuming …" : "Resume"}
        </Button>
      )}
      {over ? (
        <RemoveButton
          permission="operate"
          name={name}
          kind="batch"
          consequences="Its answers are deleted with it. Download the results first if you need them. Samples made from it stay."
          removal={remove}
        />
      ) : (
        <Button look="danger" onClick={() => setOpen(true)}>
          Stop
        </Button>
      )}
      <FormModal
        open={open}
        onClose={() => setOpen(false)}
        title={`Stop ${name} for good?`}
        description="It cannot be resumed, and its engines are unloaded. Finished answers stay and can be downloaded. To continue later, pause it."
        act={stop}
        onSubmit={() => stop.mutate()}
        keep="Keep it running"
        go={stop.isPending ? "Stopping …" : "Stop batch"}
        look="danger"
      />
    </div>
  );
}
