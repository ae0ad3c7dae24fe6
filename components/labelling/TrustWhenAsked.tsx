"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ProfileJob } from "@/server/contracts/studio";
import { takeOutcome } from "../api/takeOutcome";
import { useTRPC } from "../api/trpc";
import type { LabelKind } from "./labelChoices";
import { mayBiasLabels } from "./mayBiasLabels";
import { noAnswers } from "./noAnswers";
import { TrustPanel } from "./TrustPanel";

/** What hand labels say of the measures, below the desk: closed while more labels are advised, so that they are given without knowing what a judge thinks. */
export function TrustWhenAsked({ job, kind }: { readonly job: ProfileJob; readonly kind: LabelKind }) {
  const trpc = useTRPC();
  const [open, setOpen] = useState(false);
  // The desk asks; here its answer is only read.
  const next = useQuery(trpc.labels.next.queryOptions({ jobId: job.id, kind }, { enabled: false, select: takeOutcome }));
  const panel = <TrustPanel jobId={job.id} workloadIds={job.workloadIds} />;
  if (noAnswers(job) !== false) return panel;
  if (next.data === undefined) return null;
  if (!mayBiasLabels(next.data.progress)) return panel;
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)} className="flex flex-col">
      <summary className="w-fit text-sm text-ink-2">What the labels say of each measure so far</summary>
      <p className="max-w-prose pt-2 pb-3 text-sm text-ink-3">
        Each label moves these figures, so that they tell what a judge thought of the answer just labelled: labels are more honest with this
        closed.
      </p>
      {open && panel}
    </details>
  );
}
