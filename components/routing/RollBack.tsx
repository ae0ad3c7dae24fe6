"use client";

import { useQuery } from "@tanstack/react-query";
import { memo } from "react";
import type { RoutingFrame } from "@/server/contracts/studio";
import { cascadeText } from "@/solver/wording/wording";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { shortHash } from "../ui/format";
import { ReasonDialog } from "../ui/ReasonDialog";

/** The target of a roll-back of the routing, or why there is none. */
export function prepareRollBack(
  previous: RoutingFrame["previous"],
  applying: boolean,
): {
  readonly button: string;
  /** Why it is not possible now; null: it is. */
  readonly hindered: string | null;
  readonly goesTo: string;
} {
  const button = previous === undefined || previous === null ? "Roll back routing" : `Roll back routing to ${shortHash(previous.planId)}`;
  const goesTo =
    previous === undefined || previous === null
      ? "the plan that was in force before this one"
      : `plan ${shortHash(previous.planId)} with policy ${shortHash(previous.policyHash)} (${previous.name})`;
  if (applying) return { button, hindered: "A plan is being applied: wait for its end, or abort it.", goesTo };
  return { button, hindered: previous === null ? "No other plan was in force before this one." : null, goesTo };
}

/** Restores the gateway's previous plan with its knobs, over the current engines. */
export const RollBack = memo(function RollBack(props: {
  readonly clusterId: string;
  readonly etag: string;
  readonly previous: RoutingFrame["previous"];
  /** Plan of the canary that runs; null: none. */
  readonly canaryOf: string | null;
  readonly applying: boolean;
}) {
  const { clusterId, etag, previous, canaryOf } = props;
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { data: plans } = useQuery(trpc.plans.list.queryOptions({ clusterId }));
  const plan = plans?.find(({ id }) => id === previous?.planId);
  const { button, hindered, goesTo } = prepareRollBack(previous, props.applying);
  return (
    <ReasonDialog
      button={button}
      hindered={hindered}
      title="Roll back the routing?"
      description={`The gateway routes by ${goesTo} again, with its earlier controls, immediately and over the engines that run now. No engine is started or stopped: to go back to a plan with its engines, use Apply. To undo changed controls, reset them.`}
      keep="Keep this routing"
      go="Roll back"
      look="danger"
      act={(reason) => client.gateway.rollBack.mutate({ clusterId, etag, reason })}
    >
      {plan !== undefined && <p className="text-sm">It was planned as {cascadeText(plan)}.</p>}
      {canaryOf !== null && <p className="text-sm text-warn">This ends the canary of {shortHash(canaryOf)}.</p>}
    </ReasonDialog>
  );
});
