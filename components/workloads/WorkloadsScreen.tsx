"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import type { WorkloadSummary } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import { useClusterLink } from "../shell/useCurrentCluster";
import { Badge } from "../ui/Badge";
import { Button, buttonClass } from "../ui/Button";
import { formatCount, formatDate, formatRate, formatScore } from "../ui/format";
import { ModelChip } from "../ui/ModelChip";
import { PageHeader } from "../ui/PageHeader";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { useModelIdentities } from "../ui/useModelIdentities";
import { flagCodec } from "../url/flagCodec";
import { useUrlView } from "../url/useUrlView";
import { ImportWizard } from "./ImportWizard";
import { JudgeBadge } from "./JudgeBadge";

const importCodec = flagCodec("import");

function WorkloadCard({ workload }: { readonly workload: WorkloadSummary }) {
  const link = useClusterLink();
  const identities = useModelIdentities(workload.models.map((each) => each.model));
  return (
    <article className="flex flex-col gap-3 rounded-lg border bg-panel p-4">
      <header className="flex flex-wrap items-center gap-2">
        <h2 className="text-base font-semibold">
          <Link href={link(`/workloads/${workload.id}`)} className="underline-offset-2 hover:underline">
            {workload.name}
          </Link>
        </h2>
        {workload.generated && <Badge tone="hatched">generated</Badge>}
        <JudgeBadge judge={workload.judge} />
      </header>
      <p className="text-sm text-ink-2">
        {formatCount(workload.prompts)} prompts, {formatCount(workload.planningPrompts)} planned on and{" "}
        {formatCount(workload.heldOutPrompts)} held out; {formatCount(workload.arrivals)} arrivals at{" "}
        {formatRate(workload.recordedRequestsPerSecond)} as recorded.
      </p>
      <ul className="flex list-none flex-col gap-1 text-sm">
        {workload.models.map((each) => {
          const identity = identities.get(each.model);
          return (
            <li key={each.model} className="flex items-center gap-3">
              <span className="min-w-40">{identity === undefined ? each.model : <ModelChip identity={identity} />}</span>
              <span className="text-ink-2">quality alone {formatScore(each.meanLabel)}</span>
              <span className="text-ink-3">{formatCount(each.meanOutputTokens)} tokens a mean answer</span>
            </li>
          );
        })}
      </ul>
      <footer className="mt-auto flex items-center gap-2 text-xs text-ink-3">
        <span>{formatDate(workload.createdAt)}</span>
        <Link href={link(`/plan?workload=${workload.id}`)} className={`${buttonClass("plain")} ml-auto`}>
          Plan with it
        </Link>
      </footer>
    </article>
  );
}

/** Workloads: what plans are made on, and how to bring one's own. */
export function WorkloadsScreen() {
  const trpc = useTRPC();
  const query = useQuery(trpc.workloads.list.queryOptions());
  const [{ open }, write] = useUrlView(importCodec);
  const status = queryStatus(query, {
    what: "Reading workloads",
    empty: query.data?.length === 0 && {
      kind: "empty",
      title: "No workload yet",
      text: "Import a table of what your models answered to your prompts.",
    },
  });
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title="Workloads">
        <Button look="primary" className="ml-auto" onClick={() => write({ open: true }, "push")}>
          Import prompts
        </Button>
      </PageHeader>
      <PanelState status={status}>
        {() => (
          <div className="grid gap-4 [grid-template-columns:repeat(auto-fill,minmax(min(420px,100%),1fr))]">
            {(query.data ?? []).map((workload) => (
              <WorkloadCard key={workload.id} workload={workload} />
            ))}
          </div>
        )}
      </PanelState>
      {open && <ImportWizard open onOpenChange={(next) => write({ open: next }, "replace")} />}
    </div>
  );
}
