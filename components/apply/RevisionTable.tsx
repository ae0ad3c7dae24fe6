"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import Link from "next/link";
import { useState } from "react";
import type { Application, AuditLine, PlanSummary } from "@/server/contracts/studio";
import { takeOutcome } from "../api/takeOutcome";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { useClusterLink } from "../shell/useCurrentCluster";
import { StateWord } from "../ui/Badge";
import { Button, buttonClass } from "../ui/Button";
import { formatDate, formatScore, formatSeconds, shortHash } from "../ui/format";
import { Modal } from "../ui/Modal";
import { Table } from "../ui/Table";
import { prepareInForce, prepareRevisions, type RoutingChange } from "./prepareRevisions";
import { useAudit } from "./useAudit";

const NO_LINES: readonly AuditLine[] = [];

const columns = [
  { key: "when", name: "In force since" },
  { key: "plan", name: "Plan" },
  { key: "cascade", name: "Cascade" },
  { key: "quality", name: "Quality promised", numeric: true },
  { key: "p95", name: "p95 promised", numeric: true },
  { key: "who", name: "By" },
  { key: "act", name: "Way back", numeric: true },
] as const;

/** Takes the first plan out of force again: there is no earlier one whose page could show the difference. */
function StopAll({ clusterId }: { readonly clusterId: string }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [open, setOpen] = useState(false);
  const stop = useMutation({
    mutationFn: async () => takeOutcome(await client.applications.rollback.mutate({ clusterId, toPlanId: null })),
    onSuccess: () => setOpen(false),
    onSettled: () => queries.invalidateQueries(trpc.applications.pathFilter()),
  });
  return (
    <>
      <Button onClick={() => setOpen(true)}>Roll back</Button>
      <Modal
        open={open}
        onOpenChange={setOpen}
        title="Roll back to nothing?"
        description="No plan was in force before this one. The gateway stops taking requests, every engine is drained and then stopped."
      >
        {stop.error !== null && (
          <p role="alert" className="text-sm text-bad">
            {stop.error.message}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={() => setOpen(false)}>Keep it running</Button>
          <Button look="danger" disabled={stop.isPending} onClick={() => stop.mutate()}>
            Stop every engine
          </Button>
        </div>
      </Modal>
    </>
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
      <td className="text-right text-xs text-ink-3">on Live</td>
    </tr>
  );
}

/** Plans that were in force on this cluster, the current one marked, each with the way back to it. */
export function RevisionTable(props: {
  readonly clusterId: string;
  readonly runningPlanId: string | null;
  readonly applications: readonly Application[];
  readonly plans: readonly PlanSummary[];
}) {
  const audit = useAudit().data ?? NO_LINES;
  const link = useClusterLink();
  const revisions = prepareRevisions(props.applications, props.runningPlanId);
  if (revisions.length === 0)
    return <p className="text-sm text-ink-3">No plan has been in force on this cluster yet, so there is none to roll back to.</p>;
  return (
    <Table caption="Revisions" columns={columns}>
      {prepareInForce(revisions, audit).map((entry) => {
        if ("line" in entry) return <RoutingRow key={`${entry.line.at} ${entry.line.action}`} change={entry} />;
        const { application, planId, current, canReturn } = entry;
        const plan = props.plans.find((each) => each.id === planId);
        return (
          <tr key={application.id}>
            <td className="whitespace-nowrap">{formatDate(application.startedAt)}</td>
            <td className="whitespace-nowrap">
              {planId === null ? (
                "nothing"
              ) : (
                <Link href={link(`/apply/${planId}`)} className="font-mono text-accent underline-offset-2 hover:underline">
                  {shortHash(planId)}
                </Link>
              )}{" "}
              {current && <StateWord tone="good">current</StateWord>}
            </td>
            <td>
              {plan?.stages
                .map((stage, index) => (index < plan.thresholds.length ? `${stage} <${plan.thresholds[index]}→ ` : stage))
                .join("") ?? "–"}
            </td>
            <td className="text-right">{formatScore(plan?.quality)}</td>
            <td className="text-right">{formatSeconds(plan?.p95Seconds)}</td>
            <td>{application.actor}</td>
            <td className="text-right">
              {canReturn && planId !== null && (
                <Link href={link(`/apply/${planId}`)} className={buttonClass("plain")}>
                  Roll back
                </Link>
              )}
              {current && application.previousPlanId === null && planId !== null && <StopAll clusterId={props.clusterId} />}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}
