"use client";

import { useQuery } from "@tanstack/react-query";
import type { Plan } from "@/solver/plan/plan";
import { useTRPC } from "../api/trpc";
import { DiffList } from "../apply/DiffList";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";

/** What this plan would change of what runs, by the code that would change it. */
export function PlanDiffPanel({ plan, clusterId }: { readonly plan: Plan; readonly clusterId: string }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.plans.diff.queryOptions({ planId: plan.id, clusterId }));
  const { data } = query;
  const refused = data !== undefined && !data.ok;
  const status = queryStatus(query, {
    what: "Comparing with what runs",
    empty: refused && { kind: "empty", title: "No difference to show", text: data.message },
  });
  return <PanelState status={status}>{() => data?.ok === true && <DiffList lines={data.diff.lines} notes={data.diff.notes} />}</PanelState>;
}
