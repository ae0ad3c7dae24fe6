"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type Ref, useState } from "react";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { Check } from "../ui/Check";
import { PermittedButton } from "../ui/PermittedButton";

/** Why the plan cannot be put into force right now; null when it can. */
export type Obstacle = string | null;

/**
 * Rolling back to an earlier plan, and re-applying the plan in force to engines or routing that differ from it, use the same steps under
 * other names.
 */
export type StartKind = "apply" | "rollback" | "re-apply";

const verbs: Readonly<Record<StartKind, string>> = { apply: "Apply", rollback: "Roll back", "re-apply": "Re-apply" };

/** The button that changes the cluster. It sends the plan that was shown as running, and the server refuses if that has changed. */
export function StartPanel(props: {
  readonly planId: string;
  readonly clusterId: string;
  readonly expectedRunningPlanId: string | null;
  readonly kind: StartKind;
  readonly obstacle: Obstacle;
  /** Whether the plan's figures are a promise that it can break. */
  readonly isPredicted: boolean;
  readonly buttonRef: Ref<HTMLButtonElement>;
  /** Called before the button is blocked by the application that began. */
  readonly onStarted: () => void;
}) {
  const { planId, clusterId, expectedRunningPlanId } = props;
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [rollBackOnRegression, setRollBackOnRegression] = useState(false);
  const start = useMutation({
    mutationFn: async () =>
      unwrapOutcome(
        props.kind === "rollback"
          ? await client.applications.rollback.mutate({ clusterId, toPlanId: planId, rollBackOnRegression })
          : await client.applications.start.mutate({ planId, clusterId, expectedRunningPlanId, rollBackOnRegression }),
      ),
    onSuccess: props.onStarted,
    onSettled: () =>
      Promise.all([queries.invalidateQueries(trpc.applications.pathFilter()), queries.invalidateQueries(trpc.plans.diff.pathFilter())]),
  });
  const refusal = props.obstacle ?? start.error?.message ?? null;
  return (
    <div className="flex flex-col gap-2">
      <Check checked={rollBackOnRegression} onChange={setRollBackOnRegression}>
        Roll back automatically if it has to stop{props.isPredicted && " or misses its targets"}
      </Check>
      <div className="flex flex-wrap items-center gap-3">
        <PermittedButton
          permission="operate"
          ref={props.buttonRef}
          look="primary"
          disabled={props.obstacle !== null}
          // Not disabled while pending: a disabled button drops the focus, also when the start is refused.
          onClick={() => !start.isPending && start.mutate()}
        >
          {verbs[props.kind]}
        </PermittedButton>
        <span role={start.error === null ? undefined : "alert"} className={`text-sm ${start.error === null ? "text-ink-3" : "text-bad"}`}>
          {refusal ?? "Five seconds to cancel, then step by step; you can pause or abort."}
        </span>
      </div>
    </div>
  );
}
