"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { LabelProgress, ProfileJob } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import type { LabelKind } from "./labelChoices";
import { noAnswers } from "./noAnswers";
import { TrustPanel } from "./TrustPanel";

/** Whether figures of measures could influence the labeller: until the recommended number is labelled, or nothing is left. */
export const mayBiasLabels = ({ task, labelled, advised }: LabelProgress): boolean => task !== null && labelled < advised;

/**
 * The results of hand labels for the measures, below the desk: closed while more labels are recommended, so that the judge's opinion does
 * not influence them.
 */
export function TrustDisclosure({ job, kind }: { readonly job: ProfileJob; readonly kind: LabelKind }) {
  const trpc = useTRPC();
  const [open, setOpen] = useState(false);
  // The desk sends the query; here its cached answer is read.
  const next = useQuery(trpc.labels.next.queryOptions({ jobId: job.id, kind }, { enabled: false, select: unwrapOutcome }));
  const panel = <TrustPanel jobId={job.id} workloadIds={job.workloadIds} />;
  if (noAnswers(job) !== false) return panel;
  if (next.data === undefined) return null;
  if (!mayBiasLabels(next.data.progress)) return panel;
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)} className="flex flex-col">
      <summary className="w-fit text-sm text-ink-2">Result for each measure so far</summary>
      <p className="max-w-prose pt-2 pb-3 text-sm text-ink-3">
        Each label changes these figures, so they reveal the judge's score of the answer just labelled: keep this closed for unbiased
        labels.
      </p>
      {open && panel}
    </details>
  );
}
