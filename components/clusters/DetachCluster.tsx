"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ClusterDetail } from "@/server/contracts/studio";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { TextField } from "../ui/Field";
import { Modal } from "../ui/Modal";
import { detachSentences } from "./prepareCard";

/** Lets go of a cluster, once its name is typed: what stays and what ends is said first. */
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
      <Button look="danger" onClick={() => setOpen(true)}>
        Detach
      </Button>
      <Modal open={open} onOpenChange={setOpen} title={`Detach ${name}?`} description="The studio stops managing it.">
        <ul className="flex list-disc flex-col gap-1 pl-5 text-sm">
          {detachSentences(detail).map((sentence) => (
            <li key={sentence} className="[overflow-wrap:anywhere]">
              {sentence}
            </li>
          ))}
        </ul>
        <form
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            detach.mutate();
          }}
        >
          <TextField label={`Type its name, ${name}`} value={typed} maxLength={80} onChange={setTyped} />
          <ErrorLine error={detach.error} />
          <div className="flex justify-end gap-2">
            <Button onClick={() => setOpen(false)}>Keep it</Button>
            <Button type="submit" look="danger" disabled={typed.trim() !== name || detach.isPending}>
              Detach cluster
            </Button>
          </div>
        </form>
      </Modal>
    </>
  );
}
