"use client";

import { useQuery } from "@tanstack/react-query";
import type { Plan } from "@/solver/plan/plan";
import { useTRPC } from "../api/trpc";
import { DiffList } from "../apply/DiffList";
import { shortHash } from "../ui/format";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { diffPlans } from "./diffPlans";

/** What this plan would change of what runs. The review page shows the same with the steps that make it so. */
export function PlanDiffPanel({ plan, runningPlanId }: { readonly plan: Plan; readonly runningPlanId: string | null }) {
  const trpc = useTRPC();
  const running = useQuery(
    trpc.plans.get.queryOptions({ planId: runningPlanId ?? "" }, { enabled: runningPlanId !== null, staleTime: Number.POSITIVE_INFINITY }),
  );
  if (runningPlanId === null) return <p className="text-sm text-ink-3">No plan runs on this cluster: everything in this one is new.</p>;
  return (
    <PanelState status={queryStatus(running, { what: `Reading the running plan ${shortHash(runningPlanId)}` })}>
      {() => running.data !== undefined && <DiffList lines={diffPlans(running.data.plan, plan)} />}
    </PanelState>
  );
}
