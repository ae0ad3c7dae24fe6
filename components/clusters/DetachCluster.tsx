"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ClusterDetail } from "@/server/contracts/studio";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { TextField } from "../ui/Field";
import { FormModal } from "../ui/FormModal";
import { NoteList } from "../ui/Notes";
import { PermittedButton } from "../ui/PermittedButton";
import { detachSentences } from "./prepareCard";

/** Detaches a cluster after its name is typed; states first what is kept and what ends. */
export function DetachCluster(props: { readonly detail: ClusterDetail; readonly name: string; readonly onDone: () => void }) {
  const { detail, name, onDone } = props;
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const detach = useMutation({
    mutationFn: async () => unwrapOutcome(await client.clusters.detach.mutate({ clusterId: detail.clusterId, name: typed.trim() })),
    onSuccess: async () => {
      await queries.invalidateQueries(trpc.clusters.pathFilter());
      onDone();
    },
  });
  return (
    <>
      <PermittedButton permission="attach" look="danger" onClick={() => setOpen(true)}>
        Detach
      </PermittedButton>
      <FormModal
        open={open}
        onClose={() => setOpen(false)}
        title={`Detach ${name}?`}
        description="The studio stops managing it."
        act={detach}
        ready={typed.trim() === name}
        onSubmit={() => detach.mutate()}
        keep="Keep it"
        go="Detach cluster"
        look="danger"
      >
        <NoteList items={detachSentences(detail)} className="flex list-disc flex-col gap-1 pl-5 text-sm" />
        <TextField label={`Type its name, ${name}`} value={typed} maxLength={80} onChange={setTyped} />
      </FormModal>
    </>
  );
}
