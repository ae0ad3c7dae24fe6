"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/components/api/trpc";
import { DiffList } from "@/components/apply/DiffList";
import { PanelState } from "@/components/ui/PanelState";
import { queryStatus } from "@/components/ui/queryStatus";
import type { Plan } from "@/solver/plan/plan";

/** The changes of this plan to the running state, computed by the code that applies plans. */
export function PlanDiffPanel({ plan, clusterId }: { readonly plan: Plan; readonly clusterId: string }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.plans.diff.queryOptions({ planId: plan.id, clusterId }));
  const { data } = query;
  const refused = data !== undefined && !data.ok;
  const status = queryStatus(query, {
    what: "Comparing with the running state",
    empty: refused && { kind: "empty", title: "No difference to show", text: data.message },
  });
  return <PanelState status={status}>{() => data?.ok === true && <DiffList lines={data.diff.lines} notes={data.diff.notes} />}</PanelState>;
}
