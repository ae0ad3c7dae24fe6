"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { ClusterLink } from "../shell/ClusterLink";
import { StateWord } from "../ui/Badge";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { prepareTrust } from "./prepareTrust";
import { usePlannedFloor } from "./usePlannedFloor";

/** The results of hand labels for the measures of a workload's profile, one line each. */
export function JudgeTrust({ jobId, workloadId }: { readonly jobId: string; readonly workloadId: string }) {
  const planned = usePlannedFloor([workloadId]);
  const asked = { jobId, floor: planned?.floor ?? 0 };
  const query = useQuery(useTRPC().labels.trust.queryOptions(asked, { select: unwrapOutcome, enabled: planned !== null }));
  const trust = query.data?.trust;
  return (
    <section aria-label="Trust in the measures" className="mt-4 flex flex-col gap-2 border-t pt-3">
      <PanelState status={queryStatus(query, { what: "Comparing measures with hand labels" })}>
        {() =>
          trust !== undefined && (
            <>
              <p className="text-xs text-ink-3">
                Compared with a floor of {trust.floor}: {planned?.from}. The profile's page can change it.
              </p>
              <ul className="flex list-none flex-col gap-2 text-sm">
                {prepareTrust(trust).map((row) => (
                  <li key={row.id} className="flex flex-wrap items-center gap-x-2">
                    <span className="font-medium">{row.name}</span>
                    <StateWord tone={row.tone}>{row.word}</StateWord>
                    <span className="text-xs text-ink-2">
                      {row.labels}
                      {row.auc !== null &&
                        `, AUC ${row.aucByModel.length > 0 ? row.aucByModel.map(({ model, says }) => `of ${model} ${says}`).join(", ") : `${row.auc.value} (${row.auc.span})`}`}
                      , noise {row.noise}
                    </span>
                    {row.warning !== null && <p className="w-full max-w-prose text-xs text-ink-2">{row.warning}</p>}
                  </li>
                ))}
              </ul>
            </>
          )
        }
      </PanelState>
      <ClusterLink to={`/workloads/profiles/${jobId}`} className="text-xs text-accent underline underline-offset-2">
        The profile, its measures and hand labels
      </ClusterLink>
    </section>
  );
}
