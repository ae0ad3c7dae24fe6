"use client";

import { useQuery } from "@tanstack/react-query";
import type { Application, ClusterSummary, PlanSummary } from "@/server/contracts/studio";
import { cascadeText } from "@/solver/wording/wording";
import { useTRPC } from "../api/trpc";
import { useHindrance } from "../api/useMe";
import { ApplicationPanel } from "../apply/ApplicationPanel";
import { planInForce } from "../apply/planInForce";
import { predictedText } from "../apply/predictedText";
import { isActive } from "../apply/prepareRevisions";
import { RevisionTable } from "../apply/RevisionTable";
import { useApplications } from "../apply/useApplications";
import { useAudit } from "../apply/useAudit";
import { ClusterLink } from "../shell/ClusterLink";
import { useClusters, useCurrentCluster } from "../shell/useCurrentCluster";
import { StateWord } from "../ui/Badge";
import { formatDate, formatScore, formatSeconds, formatUsd, shortHash } from "../ui/format";
import { lockedStatus } from "../ui/lockedStatus";
import { PageHeader } from "../ui/PageHeader";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { Table } from "../ui/Table";
import { PlanImport } from "./PlanImport";

const NONE: readonly Application[] = [];

const planColumns = [
  { key: "plan", name: "Plan" },
  { key: "made", name: "Made" },
  { key: "workload", name: "Workload" },
  { key: "cascade", name: "Cascade" },
  { key: "gpus", name: "GPUs", numeric: true },
  { key: "quality", name: "Quality", numeric: true },
  { key: "p95", name: "p95", numeric: true },
  { key: "cost", name: "$/request", numeric: true },
  { key: "state", name: "State" },
] as const;

const auditColumns = [
  { key: "at", name: "When" },
  { key: "actor", name: "Who" },
  { key: "action", name: "What" },
  { key: "subject", name: "Of" },
  { key: "detail", name: "Detail" },
] as const;

function KeptPlans({ clusterId }: { readonly clusterId: string }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.plans.list.queryOptions({ clusterId }));
  const plans = query.data ?? [];
  const status = queryStatus(query, {
    what: "Reading plans",
    empty: query.data?.length === 0 && {
      kind: "empty",
      title: "No saved plan yet",
      text: "A plan is saved when you review it from the Plan page.",
    },
  });
  return (
    <PanelState status={status}>
      {() => (
        <Table caption="Saved plans" columns={planColumns}>
          {plans.map((plan) => (
            <tr key={plan.id}>
              <td>
                <ClusterLink to={`/apply/${plan.id}`} className="font-mono text-accent underline-offset-2 hover:underline">
                  {shortHash(plan.id)}
                </ClusterLink>
              </td>
              <td className="whitespace-nowrap">{formatDate(plan.createdAt)}</td>
              <td>
                <ClusterLink to={`/workloads/${plan.workloadId}`} className="underline-offset-2 hover:underline">
                  {plan.workloadName}
                </ClusterLink>
              </td>
              <td>{cascadeText(plan)}</td>
              <td className="text-right">{plan.gpus}</td>
              <td className="text-right">{predictedText(plan, "quality", formatScore)}</td>
              <td className="text-right">{predictedText(plan, "p95Seconds", formatSeconds)}</td>
              <td className="text-right">{predictedText(plan, "costUsdPerRequest", formatUsd)}</td>
              <td>
                {plan.running ? <StateWord tone="good">in force</StateWord> : <ApprovalWord standing={plan.approvalStanding} />}
                {plan.claimed !== null && (
                  <StateWord tone="warn" title={plan.claimed}>
                    figures claimed by another
                  </StateWord>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </PanelState>
  );
}

function ApprovalWord({ standing }: { readonly standing: PlanSummary["approvalStanding"] }) {
  switch (standing) {
    case "valid":
      return <StateWord tone="accent">approved</StateWord>;
    case "earlier-rule":
      return <StateWord tone="warn">approved under the old rule</StateWord>;
    case "changed":
      return <StateWord tone="warn">to be approved again</StateWord>;
    case null:
      return <StateWord tone="neutral">not approved</StateWord>;
  }
}

function Audit() {
  const query = useAudit();
  const hindrance = useHindrance("audit");
  const read = queryStatus(query, {
    what: "Reading the audit",
    empty: query.data?.length === 0 && {
      kind: "empty",
      title: "No change yet",
      text: "Every change is listed here: who, when, what and why.",
    },
  });
  const status = hindrance === null ? read : lockedStatus(hindrance);
  return (
    <PanelState status={status}>
      {() => (
        // On narrow screens the detail is below the action: a fifth column would be out of sight.
        <div className="relative max-h-96 overflow-y-auto max-sm:[&_td:last-child]:hidden max-sm:[&_th:last-child]:hidden">
          <Table caption="Audit" columns={auditColumns}>
            {(query.data ?? []).map((line) => (
              <tr key={line.id}>
                <td className="whitespace-nowrap text-ink-3" title={line.at}>
                  {formatDate(line.at)}
                </td>
                <td>{line.actor}</td>
                <td className="sm:whitespace-nowrap">
                  {line.action}
                  <span className="block min-w-32 text-xs text-ink-2 [overflow-wrap:anywhere] sm:hidden">{line.detail}</span>
                </td>
                <td className="max-w-48 truncate max-sm:max-w-16 font-mono text-xs" title={line.subject}>
                  {line.subject}
                </td>
                <td className="text-ink-2">
                  {line.outcome === "refused" && <StateWord tone="bad">refused</StateWord>} {line.detail}
                </td>
              </tr>
            ))}
          </Table>
        </div>
      )}
    </PanelState>
  );
}

function HistoryDesk({ cluster }: { readonly cluster: ClusterSummary }) {
  const trpc = useTRPC();
  const clusterId = cluster.spec.id;
  const query = useApplications(clusterId);
  const plans = useQuery(trpc.plans.list.queryOptions({ clusterId }));
  const active = query.data?.find(isActive);
  return (
    <>
      {active !== undefined && (
        <Panel title="In progress">
          <ApplicationPanel application={active} />
        </Panel>
      )}
      <Panel title={`Revisions of ${cluster.spec.name}`}>
        <PanelState status={queryStatus(query, { what: "Reading revisions" })}>
          {() => (
            <RevisionTable
              clusterId={clusterId}
              clusterName={cluster.spec.name}
              runningPlanId={planInForce(query.data ?? [], cluster)}
              applications={query.data ?? NONE}
              plans={plans.data ?? []}
            />
          )}
        </PanelState>
      </Panel>
      <Panel title="Plans" aside={<PlanImport />}>
        <KeptPlans clusterId={clusterId} />
      </Panel>
      <Panel
        title="Audit"
        aside={
          <ClusterLink to="/audit" className="underline-offset-2 hover:underline">
            All lines
          </ClusterLink>
        }
      >
        <Audit />
      </Panel>
    </>
  );
}

/** History: plans that were in force, stored plans, and the audit. */
export function HistoryScreen() {
  const clusters = useClusters();
  const cluster = useCurrentCluster();
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title="Apply and history" />
      <PanelState status={queryStatus(clusters, { what: "Reading clusters" })}>
        {() => cluster !== null && <HistoryDesk cluster={cluster} />}
      </PanelState>
    </div>
  );
}
