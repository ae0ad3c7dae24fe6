"use client";

import { useIsMutating, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { LabelProgress } from "@/server/contracts/studio";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { useAllowed, useHindrance } from "../api/useMe";
import { lockedStatus } from "../ui/lockedStatus";
import type { PanelStatus } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import type { LabelKind } from "./labelChoices";

/** The next task after the current one is labelled or skipped, before the studio has answered. */
export const afterTask = (progress: LabelProgress, done: "labelled" | "skipped"): LabelProgress =>
  progress.task === null ? progress : { ...progress, task: progress.after, after: null, [done]: progress[done] + 1 };

export interface Labelling {
  readonly status: PanelStatus;
  readonly progress: LabelProgress | null;
  /** Whether labels are being sent, so that the next task may not be known yet. */
  readonly sending: boolean;
  /** Why a label was refused; it has to be given again. */
  readonly error: { readonly message: string } | null;
  /** Labels the current task; the next one is shown at once. */
  readonly give: (quality: number) => void;
  /** Skips the task. */
  readonly skip: () => void;
  readonly undo: () => void;
}

/** Hand labels of a job in sequence. They are sent in the order in which they were given, while the next task is already shown. */
export function useLabelling(jobId: string, kind: LabelKind): Labelling {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [error, setError] = useState<Labelling["error"]>(null);
  const asked = { jobId, kind };
  const hindrance = useHindrance("prepare");
  const enabled = useAllowed("prepare");
  const { queryKey } = trpc.labels.next.queryOptions(asked);
  const query = useQuery(
    trpc.labels.next.queryOptions(asked, {
      enabled,
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnMount: "always",
      select: unwrapOutcome,
    }),
  );
  const progress = query.data?.progress ?? null;

  const mutationKey = ["hand labels", jobId];
  const sending = useIsMutating({ mutationKey }) > 0 || query.isFetching;
  const shared = {
    mutationKey,
    // In sequence: a label must have been sent before it can be withdrawn.
    scope: { id: mutationKey.join(" ") },
    onError: setError,
    async onSettled() {
      // Of several pending labels only the last one rereads what is left; the others would bring back labelled tasks.
      if (queries.isMutating({ mutationKey }) > 1) return;
      await queries.invalidateQueries({ queryKey });
      void queries.invalidateQueries(trpc.labels.trust.pathFilter());
    },
  };
  const label = useMutation({
    ...shared,
    mutationFn: async (order: { readonly index: number; readonly quality: number }) =>
      unwrapOutcome(await client.labels.label.mutate({ ...asked, ...order })),
  });
  const skip = useMutation({
    ...shared,
    mutationFn: async (index: number) => unwrapOutcome(await client.labels.skip.mutate({ ...asked, index })),
  });
  const undo = useMutation({ ...shared, mutationFn: async () => unwrapOutcome(await client.labels.undo.mutate(asked)) });

  function goOn(done: "labelled" | "skipped"): void {
    setError(null);
    void queries.cancelQueries({ queryKey });
    queries.setQueryData(queryKey, (known) => (known?.ok ? { ...known, progress: afterTask(known.progress, done) } : known));
  }

  return {
    status: hindrance === null ? queryStatus(query, { what: "Reading what is to be labelled" }) : lockedStatus(hindrance),
    progress,
    sending,
    error,
    give(quality) {
      if (progress === null || progress.task === null) return;
      goOn("labelled");
      label.mutate({ index: progress.task.index, quality });
    },
    skip() {
      if (progress === null || progress.task === null) return;
      goOn("skipped");
      skip.mutate(progress.task.index);
    },
    undo() {
      setError(null);
      undo.mutate();
    },
  };
}
