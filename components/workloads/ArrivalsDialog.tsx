"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import type { WorkloadSummary } from "@/server/contracts/studio";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { ArrivalsChooser, startingArrivals } from "../arrivals/ArrivalsChooser";
import { useClusterLink } from "../shell/useCurrentCluster";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { formatCounted } from "../ui/format";
import { Modal } from "../ui/Modal";

/** The same prompts and outcomes with other arrivals: a new version, or a workload for each part of the day. */
export function ArrivalsDialog({ summary, onClose }: { readonly summary: WorkloadSummary; readonly onClose: () => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const router = useRouter();
  const link = useClusterLink();
  const [chosen, setChosen] = useState(startingArrivals);
  const [ready, setReady] = useState(false);
  const { segments } = chosen;
  const make = useMutation({
    mutationFn: async () => {
      const asked = { workloadId: summary.id, ...chosen, segments: [...segments] };
      return unwrapOutcome(await client.workloads.replaceArrivals.mutate(asked));
    },
    onSuccess: async ({ ids }) => {
      await queries.invalidateQueries(trpc.workloads.pathFilter());
      const [only, ...others] = ids;
      // Closed in the address first, so that the browser's Back does not open it again.
      onClose();
      router.push(link(only === undefined || others.length > 0 ? "/workloads" : `/workloads/${only}`));
    },
  });
  return (
    <Modal
      open
      onOpenChange={(open) => !open && onClose()}
      title="Other arrivals"
      description="Prompts, answers and scores stay as they are; only the arrival times change. The current workload stays too."
    >
      <ArrivalsChooser value={chosen} onChange={setChosen} onReady={setReady} />
      <ErrorLine error={make.error} />
      <div className="flex flex-wrap items-center justify-end gap-3">
        <span className="text-sm text-ink-3 [overflow-wrap:anywhere]">
          {segments.length === 0
            ? `Makes the next version of “${summary.name}”.`
            : `Makes ${formatCounted(segments.length, "workload")}: ${segments.map(({ name }) => `“${summary.name} · ${name}”`).join(", ")}.`}
        </span>
        <Button look="primary" disabled={!ready || make.isPending} onClick={() => make.mutate()}>
          {make.isPending ? "Creating …" : "Make it"}
        </Button>
      </div>
    </Modal>
  );
}
