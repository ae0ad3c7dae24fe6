"use client";

import { useQuery } from "@tanstack/react-query";
import type { Route } from "next";
import Link from "next/link";
import type { WorkloadName, WorkloadSummary } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import { useClusterLink } from "../shell/useCurrentCluster";
import { StateWord } from "../ui/Badge";
import { formatDate, formatRate, shortHash } from "../ui/format";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { versionText, whereFrom } from "./prepareWorkloads";

const anchor = "text-accent underline underline-offset-2";
/** Plans listed by default. */
const MOST_PLANS = 12;

/** A workload's origin, and what was made from it. */
export function LineagePanel({ summary }: { readonly summary: WorkloadSummary }) {
  const link = useClusterLink();
  const query = useQuery(useTRPC().workloads.lineage.queryOptions({ id: summary.id }));
  const ties = query.data;
  const workload = (named: WorkloadName) => (
    <Link key={named.id} href={link(`/workloads/${named.id}`)} className={anchor}>
      {named.name} {versionText(named)}
    </Link>
  );
  return (
    <Panel title="Lineage" aside={<span>from: {whereFrom(summary)}</span>}>
      <PanelState status={queryStatus(query, { what: "Reading its sources" })}>
        {() =>
          ties !== undefined && (
            <dl className="grid gap-x-6 gap-y-2 text-sm sm:grid-cols-[auto_1fr] [&_dt]:text-ink-3">
              <dt>Outcomes</dt>
              <dd className="[overflow-wrap:anywhere]">{summary.outcomesFrom}</dd>
              {ties.job !== null && (
                <>
                  <dt>Profile</dt>
                  <dd className="[overflow-wrap:anywhere]">
                    <Link href={link(`/workloads/profiles/${ties.job.id}`) as Route} className={anchor}>
                      {ties.job.name}
                    </Link>
                  </dd>
                </>
              )}
              {ties.promptSet !== null && (
                <>
                  <dt>Prompts</dt>
                  <dd className="[overflow-wrap:anywhere]">
                    <Link href={link("/workloads/prompts") as Route} className={anchor}>
                      {ties.promptSet.name}
                    </Link>
                  </dd>
                </>
              )}
              <dt>Arrivals</dt>
              <dd className="[overflow-wrap:anywhere]">{summary.arrivalsFrom}</dd>
              {summary.parentId !== null && (
                <>
                  <dt>Prompts and outcomes of</dt>
                  <dd>{ties.parent === null ? "a workload that was removed" : workload(ties.parent)}</dd>
                </>
              )}
              {ties.children.length > 0 && (
                <>
                  <dt>With other arrivals</dt>
                  <dd className="flex flex-wrap gap-x-3">{ties.children.map(workload)}</dd>
                </>
              )}
              <dt>Plans</dt>
              <dd>
                {ties.plans.length === 0 && <span className="text-ink-3">No saved plan uses it yet.</span>}
                <ul className="flex list-none flex-col gap-1">
                  {ties.plans.slice(0, MOST_PLANS).map((plan) => (
                    <li key={plan.id} className="flex flex-wrap items-center gap-x-2">
                      <Link href={`/apply/${plan.id}?cluster=${encodeURIComponent(plan.clusterId)}` as Route} className={anchor}>
                        {shortHash(plan.id)}
                      </Link>
                      <span className="text-ink-2">
                        {plan.clusterName}, {formatRate(plan.requestsPerSecond)}, {formatDate(plan.createdAt)}
                      </span>
                      {plan.inForce && <StateWord tone="good">in force</StateWord>}
                    </li>
                  ))}
                </ul>
                {ties.plans.length > MOST_PLANS && <p className="text-xs text-ink-3">and {ties.plans.length - MOST_PLANS} earlier ones</p>}
              </dd>
            </dl>
          )
        }
      </PanelState>
    </Panel>
  );
}
