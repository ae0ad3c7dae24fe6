"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Ref } from "react";
import { takeOutcome } from "../api/takeOutcome";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";

/** Why the plan cannot be put into force right now; null when it can. */
export type Obstacle = string | null;

/** The button that changes the cluster. What was shown as running goes along, and the server refuses when that has changed. */
export function StartPanel(props: {
  readonly planId: string;
  readonly clusterId: string;
  readonly expectedRunningPlanId: string | null;
  /** An earlier plan of this cluster: the same steps, called what they are. */
  readonly rollback: boolean;
  readonly obstacle: Obstacle;
  readonly buttonRef: Ref<HTMLButtonElement>;
  /** Told before the button is blocked by the application that began. */
  readonly onStarted: () => void;
}) {
  const { planId, clusterId, expectedRunningPlanId } = props;
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const start = useMutation({
    mutationFn: async () =>
      takeOutcome(
        props.rollback
          ? await client.applications.rollback.mutate({ clusterId, toPlanId: planId })
          : await client.applications.start.mutate({ planId, clusterId, expectedRunningPlanId }),
      ),
    onSuccess: props.onStarted,
    onSettled: () =>
      Promise.all([queries.invalidateQueries(trpc.applications.pathFilter()), queries.invalidateQueries(trpc.plans.diff.pathFilter())]),
  });
  const refusal = props.obstacle ?? start.error?.message ?? null;
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button
        ref={props.buttonRef}
        look="primary"
        disabled={props.obstacle !== null}
        // Not disabled while pending: a disabled button drops the focus, also when the start is refused.
        onClick={() => !start.isPending && start.mutate()}
      >
        {props.rollback ? "Roll back" : "Apply"}
      </Button>
      <span role={start.error === null ? undefined : "alert"} className={`text-sm ${start.error === null ? "text-ink-3" : "text-bad"}`}>
        {refusal ?? "Five seconds to cancel, then step by step; you can pause or abort."}
      </span>
    </div>
  );
}
