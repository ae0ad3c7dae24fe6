"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../api/trpc";
import { ClusterLink } from "../shell/ClusterLink";
import { StateWord } from "../ui/Badge";
import { formatClock, formatCounted, shortHash } from "../ui/format";

const REFRESH_MS = 5_000;
/** The rest is in the cluster's table. */
const SHOWN = 3;

/** A notice that the running state differs from the plan in force; renders nothing where it does not. */
export function DriftNotice({ clusterId, planId }: { readonly clusterId: string; readonly planId: string }) {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.clusters.detail.queryOptions({ clusterId }, { refetchInterval: REFRESH_MS }));
  const drift = data?.drift ?? null;
  if (drift === null || drift.lines.length === 0) return null;
  return (
    <section
      aria-label="Drift"
      className="flex flex-wrap items-baseline gap-x-3 gap-y-1 rounded-lg border bg-warn-soft px-4 py-2 text-sm"
      data-testid="drift"
    >
      <StateWord tone="warn">drifted</StateWord>
      <p role="status">
        The running state differs from plan {drift.planId === null ? "" : shortHash(drift.planId)} in{" "}
        {formatCounted(drift.lines.length, "place")}.
      </p>
      <span className="text-xs text-ink-2">checked at {formatClock(drift.checkedAt)}</span>
      <span className="ml-auto flex gap-3">
        <ClusterLink to="/clusters">Show all</ClusterLink>
        {drift.planId !== null && drift.planId !== planId && (
          <ClusterLink to={`/apply/${drift.planId}`}>Re-apply the plan in force</ClusterLink>
        )}
      </span>
      <ul className="basis-full list-none text-ink-2">
        {drift.lines.slice(0, SHOWN).map((line) => (
          <li key={`${line.of} ${line.subject}`} className="[overflow-wrap:anywhere]">
            {line.says}
          </li>
        ))}
        {drift.lines.length > SHOWN && <li>and {drift.lines.length - SHOWN} more</li>}
      </ul>
    </section>
  );
}
