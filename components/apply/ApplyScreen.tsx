"use client";

import { useQuery } from "@tanstack/react-query";
import type { Application, ApplyStep, ClusterSummary, KeptPlan } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { isPredicted } from "@/solver/plan/policySchema";
import { useTRPC } from "../api/trpc";
import { SchedulePanel } from "../schedule/SchedulePanel";
import { ClusterLink } from "../shell/ClusterLink";
import { useCurrentCluster } from "../shell/useCurrentCluster";
import { StateWord } from "../ui/Badge";
import { shortHash } from "../ui/format";
import { PageHeader } from "../ui/PageHeader";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { useFocusHandover } from "../ui/useFocusHandover";
import { ApplicationPanel } from "./ApplicationPanel";
import { ApprovePanel } from "./ApprovePanel";
import { DiffList } from "./DiffList";
import { DriftNotice } from "./DriftNotice";
import { ManifestPanel } from "./ManifestPanel";
import { planInForce } from "./planInForce";
import { isActive } from "./prepareRevisions";
import { verifiedBy } from "./prepareVerification";
import { RehearsalPanel } from "./RehearsalPanel";
import { RevisionTable } from "./RevisionTable";
import { RollOutPanel } from "./RollOutPanel";
import { type Obstacle, StartPanel } from "./StartPanel";
import { useApplications } from "./useApplications";
import { VerificationPanel } from "./VerificationPanel";

const DIFF_REFRESH_MS = 2_000;
const NONE: readonly Application[] = [];
const NO_STEPS: readonly ApplyStep[] = [];
const headings = { apply: "Approve and apply", rollback: "Approve and roll back", "re-apply": "Approve and re-apply" } as const;

/** Why the button is disabled, in the order in which an operator meets the reasons. */
function obstacleOf(desk: {
  readonly isApproved: boolean;
  readonly running: boolean;
  readonly busy: Application | undefined;
  readonly refusal: string | null;
  readonly steps: number;
}): Obstacle {
  if (desk.running && desk.steps === 0) return "This plan is already running.";
  if (desk.busy !== undefined) return "A roll-out is in progress on this cluster.";
  if (desk.refusal !== null) return desk.refusal;
  return desk.isApproved ? null : "Approve the plan first.";
}

function ReviewDesk({ kept, cluster }: { readonly kept: KeptPlan; readonly cluster: ClusterSummary }) {
  const trpc = useTRPC();
  const clusterId = cluster.spec.id;
  const { plan } = kept;
  const applicationsQuery = useApplications(clusterId);
  const applications = applicationsQuery.data ?? NONE;
  const busy = applications.find(isActive);
  const latest = busy ?? applications.filter((each) => each.planId === plan.id).sort((a, b) => b.startedAt.localeCompare(a.startedAt))[0];
  // The running state may change, so the difference is read repeatedly, but not while a roll-out changes the state on purpose.
  const diffQuery = useQuery(
    trpc.plans.diff.queryOptions({ planId: plan.id, clusterId }, { refetchInterval: busy === undefined ? DIFF_REFRESH_MS : false }),
  );
  const plans = useQuery(trpc.plans.list.queryOptions({ clusterId }));
  const diff = diffQuery.data;
  const runningPlanId = planInForce(applications, cluster);
  const running = runningPlanId === plan.id;
  const wasInForce = applications.some((each) => each.planId === plan.id && each.state === "done") && !running;
  const refusal = diff !== undefined && !diff.ok ? diff.message : null;
  const steps = diff?.ok === true ? diff.diff.steps : NO_STEPS;
  const isApproved = kept.approvals.some((approval) => approval.clusterId === clusterId && approval.standing === "valid");
  const obstacle =
    diff === undefined ? "Comparing with the running state." : obstacleOf({ isApproved, running, busy, refusal, steps: steps.length });
  const kind = running && steps.length > 0 ? "re-apply" : wasInForce ? "rollback" : "apply";
  const verified = running ? verifiedBy(applications, runningPlanId) : (latest ?? null);
  const startButton = useFocusHandover<HTMLButtonElement>(obstacle === null);
  const rollOutHeading = useFocusHandover<HTMLHeadingElement>(busy !== undefined);
  return (
    <>
      <DriftNotice clusterId={clusterId} planId={plan.id} />
      <div className="grid items-start gap-4 xl:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-4">
          <Panel
            title="What changes"
            aside={
              diff?.ok === true && <span>against {diff.diff.againstPlanId === null ? "nothing" : shortHash(diff.diff.againstPlanId)}</span>
            }
          >
            <PanelState
              status={queryStatus(diffQuery, {
                what: "Comparing with the running state",
                empty: refusal !== null && { kind: "empty", title: "This plan cannot be applied here", text: refusal },
              })}
            >
              {() =>
                diff?.ok === true && (
                  <div className="flex flex-col gap-4">
                    {cluster.topology === "given" && (
                      <p className="text-sm">
                        Only the routing changes: the engines are managed outside Weir, so none is started or stopped.
                      </p>
                    )}
                    <DiffList lines={diff.diff.lines} notes={diff.diff.notes} />
                    <ManifestPanel planId={plan.id} clusterId={clusterId} />
                    <PlanDocument document={plan} />
                  </div>
                )
              }
            </PanelState>
          </Panel>
          {diff?.ok === true && steps.length > 0 && (
            <Panel title="Simulated capacity">
              <RollOutPanel diff={diff.diff} cluster={cluster} held={busy !== undefined} />
            </Panel>
          )}
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <Panel title={headings[kind]}>
            <div className="flex flex-col gap-4">
              <ApprovePanel kept={kept} cluster={cluster} onApproved={startButton.handOver} />
              {steps.length > 0 && (
                <div className="border-t pt-4">
                  <RehearsalPanel planId={plan.id} clusterId={clusterId} steps={steps} held={busy !== undefined} />
                </div>
              )}
              <div className="border-t pt-4">
                <StartPanel
                  planId={plan.id}
                  clusterId={clusterId}
                  expectedRunningPlanId={diff?.ok === true ? diff.diff.againstPlanId : null}
                  kind={kind}
                  obstacle={obstacle}
                  isPredicted={isPredicted(plan.policy)}
                  buttonRef={startButton.target}
                  onStarted={rollOutHeading.handOver}
                />
              </div>
            </div>
          </Panel>
          {latest !== undefined && (
            <Panel
              headingRef={rollOutHeading.target}
              title={
                latest.planId === plan.id ? "Roll-out" : `Roll-out of ${latest.planId === null ? "nothing" : shortHash(latest.planId)}`
              }
            >
              <ApplicationPanel application={latest} />
            </Panel>
          )}
          {((running && busy === undefined) || (verified?.verification ?? null) !== null) && (
            <Panel title={running ? "Predicted and measured" : "Predicted and measured while it was in force"}>
              <VerificationPanel application={verified} running={running} />
            </Panel>
          )}
        </div>
      </div>
      <Panel title={`Revisions of ${cluster.spec.name}`}>
        <PanelState status={queryStatus(applicationsQuery, { what: "Reading revisions" })}>
          {() => (
            <RevisionTable
              clusterId={clusterId}
              clusterName={cluster.spec.name}
              runningPlanId={runningPlanId}
              applications={applications}
              plans={plans.data ?? []}
            />
          )}
        </PanelState>
      </Panel>
      {cluster.spec.kind !== "described" && <SchedulePanel cluster={cluster} planId={plan.id} />}
    </>
  );
}

function InForce({ planId, cluster }: { readonly planId: string; readonly cluster: ClusterSummary }) {
  const applications = useApplications(cluster.spec.id).data ?? NONE;
  return planInForce(applications, cluster) === planId && <StateWord tone="good">in force</StateWord>;
}

function PlanDocument({ document }: { readonly document: Plan }) {
  return (
    <details className="border-t pt-3">
      <summary className="text-sm font-medium text-ink-2">Plan document</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <pre tabIndex={0} className="mt-2 max-h-96 overflow-auto rounded bg-sunken p-3 font-mono text-xs">
        {JSON.stringify(document, null, 2)}
      </pre>
    </details>
  );
}

/** Apply: what a plan changes, its approval, the roll-out step by step, and the way back. */
export function ApplyScreen({ planId }: { readonly planId: string }) {
  const trpc = useTRPC();
  const cluster = useCurrentCluster();
  const kept = useQuery(trpc.plans.get.queryOptions({ planId }));
  const plan = kept.data?.plan;
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title="Review and apply">
        <span className="font-mono text-sm text-ink-2">{shortHash(planId)}</span>
        {plan !== undefined && <span className="text-sm text-ink-2">{plan.metadata.name}</span>}
        {plan !== undefined && (
          <ClusterLink to={`/workloads/${plan.inputs.workload.id}`} className="text-sm text-accent underline-offset-2 hover:underline">
            made for {plan.inputs.workload.name}
          </ClusterLink>
        )}
        {cluster !== null && <InForce planId={planId} cluster={cluster} />}
        <ClusterLink to="/plan" className="ml-auto text-sm text-accent underline-offset-2 hover:underline">
          Back to planning
        </ClusterLink>
      </PageHeader>
      <PanelState status={queryStatus(kept, { what: "Reading the plan" })}>
        {() => kept.data !== undefined && cluster !== null && <ReviewDesk kept={kept.data} cluster={cluster} />}
      </PanelState>
    </div>
  );
}
