"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { PromptSet } from "@/server/contracts/studio";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { TextField } from "../ui/Field";
import { formatCounted } from "../ui/format";
import { Modal } from "../ui/Modal";

/** Deletes the texts of a sample once its name is typed: what goes and what stays is said first. */
export function DeleteTexts({ set }: { readonly set: PromptSet }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const remove = useMutation({
    mutationFn: async () => unwrapOutcome(await client.prompts.deleteTexts.mutate({ id: set.id })),
    onSuccess: async () => {
      setOpen(false);
      await Promise.all([queries.invalidateQueries(trpc.prompts.pathFilter()), queries.invalidateQueries(trpc.profiles.pathFilter())]);
    },
  });
  return (
    <>
      <Button look="danger" aria-label={`Delete the texts of ${set.name}`} onClick={() => setOpen(true)}>
        Delete texts
      </Button>
      <Modal open={open} onOpenChange={setOpen} title={`Delete the texts of ${set.name}?`} description="The studio cannot restore them.">
        <ul className="flex list-disc flex-col gap-1 pl-5 text-sm">
          <li>{formatCounted(set.prompts, "prompt")}, their references and tests, and every stored answer to them are deleted.</li>
          <li>Measurements stay: scores, lengths, latencies, hand labels, and workloads made from them.</li>
          <li>No further profile can be run on them, and no more answers can be labelled by hand.</li>
        </ul>
        <form
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (typed.trim() === set.name && !remove.isPending) remove.mutate();
          }}
        >
          <TextField label={`Type its name, ${set.name}`} value={typed} maxLength={80} onChange={setTyped} />
          <ErrorLine error={remove.error} />
          <div className="flex justify-end gap-2">
            <Button onClick={() => setOpen(false)}>Keep them</Button>
            <Button type="submit" look="danger" disabled={typed.trim() !== set.name || remove.isPending}>
              Delete the texts
            </Button>
          </div>
        </form>
      </Modal>
    </>
  );
}
