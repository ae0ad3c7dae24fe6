"use client";

import { useState } from "react";
import type { Application, ApplicationState, AuditLine, PlanSummary } from "@/server/contracts/studio";
import { cascadeText } from "@/solver/wording/wording";
import { useApplicationAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { ClusterLink } from "../shell/ClusterLink";
import { StateWord, type Tone } from "../ui/Badge";
import { buttonClass } from "../ui/Button";
import { TextField } from "../ui/Field";
import { FormModal } from "../ui/FormModal";
import { ABSENT, formatDate, formatScore, formatSeconds, shortHash } from "../ui/format";
import { PermittedButton } from "../ui/PermittedButton";
import { Table } from "../ui/Table";
import { predictedText } from "./predictedText";
import {
  type Attempt,
  isActive,
  linesOfGateway,
  noWayBack,
  prepareInForce,
  prepareRevisions,
  type RoutingChange,
} from "./prepareRevisions";
import { verificationWords } from "./prepareVerification";
import { useAudit } from "./useAudit";

const NO_LINES: readonly AuditLine[] = [];

const columns = [
  { key: "when", name: "In force since" },
  { key: "plan", name: "Plan" },
  { key: "cascade", name: "Cascade" },
  { key: "quality", name: "Predicted quality", numeric: true },
  { key: "p95", name: "Predicted p95", numeric: true },
  { key: "who", name: "By" },
  { key: "why", name: "Reason for approval" },
  { key: "verified", name: "On target" },
  { key: "act", name: "Rollback", numeric: true },
] as const;

/** Takes the first plan out of force: no earlier plan has a page that could show the difference. */
function StopAll({ clusterId, clusterName }: { readonly clusterId: string; readonly clusterName: string }) {
  const client = useTRPCClient();
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const stop = useApplicationAct(
    () => client.applications.rollback.mutate({ clusterId, toPlanId: null }),
    () => setOpen(false),
  );
  return (
    <>
      <PermittedButton permission="operate" onClick={() => setOpen(true)}>
        Roll back to nothing
      </PermittedButton>
      <FormModal
        open={open}
        onClose={() => setOpen(false)}
        title="Roll back to nothing?"
        description="No plan was in force before this one. The gateway stops taking requests, every engine is drained and then stopped."
        act={stop}
        ready={typed === clusterName}
        onSubmit={() => stop.mutate()}
        keep="Keep it running"
        go="Stop every engine"
        look="danger"
      >
        <TextField label={`Type ${clusterName} to confirm`} value={typed} onChange={setTyped} />
      </FormModal>
    </>
  );
}

function PlanName({ planId }: { readonly planId: string | null }) {
  if (planId === null) return "nothing";
  return (
    <ClusterLink to={`/apply/${planId}`} className="font-mono text-accent underline-offset-2 hover:underline">
      {shortHash(planId)}
    </ClusterLink>
  );
}

const attemptEnds: Readonly<Partial<Record<ApplicationState, { readonly word: string; readonly tone: Tone; readonly says: string }>>> = {
  failed: { word: "failed", tone: "bad", says: "" },
  aborted: { word: "cancelled", tone: "neutral", says: "Nothing was changed." },
  "rolled-back": { word: "rolled back", tone: "warn", says: "All changes were undone." },
};

function AttemptRow({ attempt: { planId, state, startedAt, actor, error } }: Attempt) {
  const end = attemptEnds[state];
  return (
    <tr className="text-ink-2">
      <td className="whitespace-nowrap">{formatDate(startedAt)}</td>
      <td className="whitespace-nowrap">
        <PlanName planId={planId} /> {end !== undefined && <StateWord tone={end.tone}>{end.word}</StateWord>}
      </td>
      <td colSpan={3} className="min-w-48 [overflow-wrap:anywhere]">
        {end?.says} {error}
      </td>
      <td>{actor}</td>
      <td colSpan={3} />
    </tr>
  );
}

function RoutingRow({ change }: { readonly change: RoutingChange }) {
  const { at, action, actor, detail } = change.line;
  return (
    <tr>
      <td className="whitespace-nowrap">{formatDate(at)}</td>
      <td colSpan={4} className="text-ink-2">
        Routing: {action}. {detail} {change.current && <StateWord tone="good">current</StateWord>}
      </td>
      <td>{actor}</td>
      <td colSpan={2} />
      <td className="text-right text-xs text-ink-3">on Live</td>
    </tr>
  );
}

/** Plans that were in force on this cluster, the current one marked, each with a link to roll back to it; and roll-outs that failed. */
export function RevisionTable(props: {
  readonly clusterId: string;
  readonly clusterName: string;
  readonly runningPlanId: string | null;
  readonly applications: readonly Application[];
  readonly plans: readonly PlanSummary[];
}) {
  const audit = linesOfGateway(useAudit().data ?? NO_LINES, { id: props.clusterId, name: props.clusterName });
  const revisions = prepareRevisions(props.applications, props.runningPlanId);
  const underWay = props.applications.find(isActive);
  const currentWord =
    underWay === undefined || underWay.planId === props.runningPlanId ? (
      <StateWord tone="good">current</StateWord>
    ) : (
      <StateWord tone="warn">being replaced</StateWord>
    );
  const without = noWayBack(props.applications, revisions);
  const entries = prepareInForce(revisions, props.applications, revisions.length === 0 ? NO_LINES : audit);
  if (entries.length === 0) return <p className="text-sm text-ink-3">{without}</p>;
  return (
    <>
      <Table caption="Revisions" columns={columns}>
        {entries.map((entry) => {
          if ("attempt" in entry) return <AttemptRow key={entry.attempt.id} attempt={entry.attempt} />;
          if ("line" in entry) return <RoutingRow key={`${entry.line.at} ${entry.line.action}`} change={entry} />;
          const { application, planId, current, canReturn } = entry;
          const plan = props.plans.find((each) => each.id === planId);
          const { verification } = application;
          const verified = verification === null ? undefined : verificationWords[verification.state];
          return (
            <tr key={application.id}>
              <td className="whitespace-nowrap">{formatDate(application.startedAt)}</td>
              <td className="whitespace-nowrap">
                <PlanName planId={planId} /> {current && currentWord}
              </td>
              <td>{plan === undefined ? ABSENT : cascadeText(plan)}</td>
              <td className="text-right">{predictedText(plan, "quality", formatScore)}</td>
              <td className="text-right">{predictedText(plan, "p95Seconds", formatSeconds)}</td>
              <td>{application.actor}</td>
              <td className="max-w-56 [overflow-wrap:anywhere]">{plan?.approvalReason || ABSENT}</td>
              <td>
                {verified === undefined ? (
                  ABSENT
                ) : (
                  <StateWord tone={verified.tone} {...(verification === null ? {} : { title: verification.says })}>
                    {verified.word}
                  </StateWord>
                )}
              </td>
              <td className="text-right">
                {canReturn && planId !== null && (
                  <ClusterLink to={`/apply/${planId}`} className={buttonClass("plain")}>
                    Preview rollback
                  </ClusterLink>
                )}
                {current && application.previousPlanId === null && planId !== null && (
                  <StopAll clusterId={props.clusterId} clusterName={props.clusterName} />
                )}
              </td>
            </tr>
          );
        })}
      </Table>
      {without !== "" && <p className="mt-2 text-sm text-ink-3">{without}</p>}
    </>
  );
}
