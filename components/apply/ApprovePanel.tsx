"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ApprovalStanding, ClusterSummary, KeptPlan } from "@/server/contracts/studio";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { useHindrance, useMe } from "../api/useMe";
import { StateWord } from "../ui/Badge";
import { ErrorLine } from "../ui/ErrorLine";
import { TextField } from "../ui/Field";
import { formatDate } from "../ui/format";
import { HinderedButton } from "../ui/HinderedButton";
import { GateWarning } from "../workloads/GateWarning";
import { ApprovedRangePanel } from "./ApprovedRangePanel";
import { approvalHindrance } from "./approvalHindrance";

export interface ApprovePanelProps {
  readonly kept: KeptPlan;
  readonly cluster: ClusterSummary;
  /** Called before the form is removed. */
  readonly onApproved: () => void;
}

const standingWords: Readonly<Record<ApprovalStanding, string>> = {
  valid: "approved",
  "earlier-rule": "approved under the old rule",
  changed: "approved before the connection changed",
};

/** Binds the operator's name to the hash that is shown, on this cluster. */
export function ApprovePanel({ kept, cluster, onApproved }: ApprovePanelProps) {
  const { plan } = kept;
  const planId = plan.id;
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [reason, setReason] = useState("");
  const { id: clusterId, name } = cluster.spec;
  const approvals = kept.approvals.filter((approval) => approval.clusterId === clusterId);
  const isApproved = approvals.some(({ standing }) => standing === "valid");
  const hash = kept.approvalHashes[clusterId] ?? "";
  const approve = useMutation({
    mutationFn: async () => unwrapOutcome(await client.plans.approve.mutate({ planId, clusterId, hash, reason })),
    onSuccess: () => {
      onApproved();
      return queries.invalidateQueries(trpc.plans.pathFilter());
    },
  });
  const notAllowed = useHindrance("approve");
  const own = useApprovalOfOwn(kept.maker);
  return (
    <div className="flex flex-col gap-3">
      <p className="text-sm text-ink-2">
        The approval is valid on {name} for exactly this plan with its figures:
        <code className="mt-1 block rounded bg-sunken px-2 py-1 font-mono text-xs break-all text-ink" data-testid="plan-hash">
          {planId}
        </code>
      </p>
      <p className="text-sm text-ink-2">
        It also covers the cluster and how its engines are started and reached. The approved hash of both:
        <code className="mt-1 block rounded bg-sunken px-2 py-1 font-mono text-xs break-all text-ink" data-testid="approved-hash">
          {hash}
        </code>
      </p>
      {kept.summary.claimed !== null && (
        <p className="flex flex-wrap items-center gap-2 text-sm">
          <StateWord tone="warn">claimed by another</StateWord>
          <span className="max-w-prose">{kept.summary.claimed}</span>
        </p>
      )}
      <ApprovedRangePanel plan={plan} />
      <GateWarning plan={plan} />
      {plan.predictions.notes.length > 0 && (
        <section aria-label="Limits of these figures" className="text-sm">
          <h3 className="mb-1 text-xs text-ink-3">Limits of these figures</h3>
          <ul className="flex list-disc flex-col gap-1 pl-4 text-ink-2">
            {plan.predictions.notes.map((note) => (
              <li key={note} className="max-w-prose">
                {note}
              </li>
            ))}
          </ul>
        </section>
      )}
      {approvals.map((approval) => (
        <p key={`${approval.actor}${approval.at}`} className="flex flex-wrap items-center gap-2 text-sm">
          <StateWord tone={approval.standing === "valid" ? "good" : "warn"}>{standingWords[approval.standing]}</StateWord>
          <span>
            by {approval.actor}, {formatDate(approval.at)}
            {approval.reason !== "" && <span className="text-ink-2">: {approval.reason}</span>}
          </span>
        </p>
      ))}
      {!isApproved && (
        <form
          className="flex flex-wrap items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            if (!approve.isPending) approve.mutate();
          }}
        >
          <TextField className="min-w-48 flex-1" label="Reason (optional)" value={reason} maxLength={500} onChange={setReason} />
          <HinderedButton type="submit" look="primary" hindrance={notAllowed ?? own}>
            {approvals.length === 0 ? "Approve" : "Approve again"}
          </HinderedButton>
        </form>
      )}
      <ErrorLine error={approve.error} />
    </div>
  );
}

/** Why the person who looks cannot approve a plan of this maker, though the role allows approvals; null: they can. */
function useApprovalOfOwn(maker: KeptPlan["maker"]): string | null {
  const trpc = useTRPC();
  const me = useMe();
  const fourEyes = useQuery(trpc.people.fourEyes.queryOptions()).data ?? false;
  const approvers = useQuery(trpc.session.whoMay.queryOptions({ permission: "approve" }, { enabled: fourEyes })).data ?? [];
  return approvalHindrance(maker, { me, fourEyes, approvers });
}
