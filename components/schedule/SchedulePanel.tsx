"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ClusterSummary, PlanSummary, ScheduleState } from "@/server/contracts/studio";
import { useScheduleAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { browserZone } from "../arrivals/prepareArrivals";
import { ClusterLink } from "../shell/ClusterLink";
import { StateWord } from "../ui/Badge";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { formatDate, shortHash } from "../ui/format";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { RemoveButton } from "../ui/RemoveButton";
import { Table } from "../ui/Table";
import { useNow } from "../ui/useNow";
import { firstDraft, inOrder, shownThere, untilWords } from "./prepareSchedule";
import { ScheduleForm } from "./ScheduleForm";

const REFRESH_MS = 2_000;
const NO_PLANS: readonly PlanSummary[] = [];

/** Which plan comes into force at which time of the day on a cluster. `planId`: the displayed one. */
export function SchedulePanel({ cluster, planId }: { readonly cluster: ClusterSummary; readonly planId: string }) {
  const trpc = useTRPC();
  const clusterId = cluster.spec.id;
  const [editing, setEditing] = useState(false);
  const query = useQuery(trpc.schedules.get.queryOptions({ clusterId }, { refetchInterval: REFRESH_MS, staleTime: 0 }));
  const plans = useQuery(trpc.plans.list.queryOptions({ clusterId })).data ?? NO_PLANS;
  const approved = plans.filter(({ approvalStanding }) => approvalStanding === "valid");
  const state = query.data ?? null;
  return (
    <Panel title={`Schedule of ${cluster.spec.name}`} aside={state !== null && <OnOff state={state} />}>
      <PanelState status={queryStatus(query, { what: "Reading the schedule" })}>
        {() => (
          <div className="flex flex-col gap-4" data-testid="schedule">
            {state !== null && <Standing state={state} plans={plans} runningPlanId={cluster.runningPlanId} />}
            {state === null && !editing && (
              <p className="text-sm text-ink-2">
                None: a plan stays in force until another is applied. Two approved plans, such as one for the day and one for the night, can
                be switched by time of day.
              </p>
            )}
            {editing ? (
              <ScheduleForm
                clusterId={clusterId}
                plans={approved}
                draft={state?.schedule ?? firstDraft(browserZone(), approved, planId)}
                onDone={() => setEditing(false)}
              />
            ) : (
              <Acts state={state} clusterId={clusterId} approved={approved.length} onEdit={() => setEditing(true)} />
            )}
          </div>
        )}
      </PanelState>
    </Panel>
  );
}

const OnOff = ({ state }: { readonly state: ScheduleState }) =>
  state.enabled ? <StateWord tone="good">on</StateWord> : <StateWord tone="neutral">off</StateWord>;

function Standing(props: { readonly state: ScheduleState; readonly plans: readonly PlanSummary[]; readonly runningPlanId: string | null }) {
  const { state, plans, runningPlanId } = props;
  const { schedule, next, last, problem } = state;
  return (
    <>
      {next !== null && <NextSwitch next={next} timeZone={schedule.timeZone} />}
      {problem !== null && (
        <p role="status" className="rounded-md bg-warn-soft px-3 py-1.5 text-sm text-warn [overflow-wrap:anywhere]">
          {problem}
        </p>
      )}
      <Table
        caption="Plan in force from each time of day"
        columns={[
          { key: "at", name: `From, ${schedule.timeZone}` },
          { key: "plan", name: "Plan" },
          { key: "does", name: "What applying it would change" },
        ]}
      >
        {inOrder(schedule.entries).map(({ at, planId }) => (
          <tr key={at} className="border-b last:border-0">
            <td className="px-2 py-1.5 tabular-nums first:pl-0">{at}</td>
            <td className="px-2 py-1.5">
              {plans.find(({ id }) => id === planId)?.name ?? "not kept"}{" "}
              <span className="font-mono text-xs text-ink-3">{shortHash(planId)}</span>
            </td>
            <td className="px-2 py-1.5 last:pr-0">
              {planId === runningPlanId ? (
                <StateWord tone="good">in force</StateWord>
              ) : (
                <ClusterLink to={`/apply/${planId}`} className="text-accent underline-offset-2 hover:underline">
                  Differences
                </ClusterLink>
              )}
            </td>
          </tr>
        ))}
      </Table>
      {last !== null && (
        <p className="flex flex-wrap items-baseline gap-2 text-sm" data-testid="last-switch">
          <StateWord tone={last.ok ? "good" : "bad"}>{last.ok ? "last" : "check this"}</StateWord>
          <span className="min-w-0 [overflow-wrap:anywhere]">
            {last.message} <span className="text-xs text-ink-3">{formatDate(last.at)}</span>
          </span>
        </p>
      )}
      <p className="text-xs text-ink-3">
        Set by {state.setBy}, {formatDate(state.setAt)}.
      </p>
    </>
  );
}

/** The countdown is visual only: an announcement every second would drown the rest. */
function NextSwitch({ next, timeZone }: { readonly next: NonNullable<ScheduleState["next"]>; readonly timeZone: string }) {
  const nowMs = useNow(1_000);
  return (
    <p className="text-sm">
      Next: <strong className="font-medium">{next.planName}</strong> at {shownThere(next.at, timeZone)}
      {nowMs !== null && (
        <span aria-hidden="true" className="text-ink-2 tabular-nums">
          , in {untilWords(Date.parse(next.at) - nowMs)}
        </span>
      )}
      .
    </p>
  );
}

function Acts(props: {
  readonly state: ScheduleState | null;
  readonly clusterId: string;
  readonly approved: number;
  readonly onEdit: () => void;
}) {
  const { state, clusterId, approved } = props;
  const client = useTRPCClient();
  const enable = useScheduleAct((enabled: boolean) => client.schedules.enable.mutate({ clusterId, enabled }));
  const remove = useScheduleAct(() => client.schedules.remove.mutate({ clusterId }));
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <Button disabled={state === null && approved < 2} onClick={props.onEdit}>
          {state === null ? "Set a schedule" : "Change it"}
        </Button>
        {state === null && approved < 2 && <span className="text-sm text-ink-3">Approve two plans of this cluster first.</span>}
        {state !== null && (
          <>
            <Button onClick={() => !enable.isPending && enable.mutate(!state.enabled)}>{state.enabled ? "Switch off" : "Switch on"}</Button>
            <RemoveButton
              permission="operate"
              name="the schedule"
              kind="it"
              consequences="The plan in force stays in force; no further switch happens."
              removal={remove}
            />
          </>
        )}
      </div>
      <ErrorLine error={enable.error} />
    </div>
  );
}
