"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { PromptSet } from "@/server/contracts/studio";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { TextField } from "../ui/Field";
import { FormModal } from "../ui/FormModal";
import { formatCounted } from "../ui/format";
import { PermittedButton } from "../ui/PermittedButton";

/** Deletes the texts of a sample after its name is typed; states first what is deleted and what is kept. */
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
      <PermittedButton permission="capture" look="danger" aria-label={`Delete the texts of ${set.name}`} onClick={() => setOpen(true)}>
        Delete texts
      </PermittedButton>
      <FormModal
        open={open}
        onClose={() => setOpen(false)}
        title={`Delete the texts of ${set.name}?`}
        description="The studio cannot restore them."
        act={remove}
        ready={typed.trim() === set.name}
        onSubmit={() => remove.mutate()}
        keep="Keep them"
        go="Delete the texts"
        look="danger"
      >
        <ul className="flex list-disc flex-col gap-1 pl-5 text-sm">
          <li>{formatCounted(set.prompts, "prompt")}, their references and tests, and every stored answer to them are deleted.</li>
          <li>Measurements stay: scores, lengths, latencies, hand labels, and workloads made from them.</li>
          <li>No further profile can be run on them, and no more answers can be labelled by hand.</li>
        </ul>
        <TextField label={`Type its name, ${set.name}`} value={typed} maxLength={80} onChange={setTyped} />
      </FormModal>
    </>
  );
}
