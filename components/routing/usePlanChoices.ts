"use client";

import { useQuery } from "@tanstack/react-query";
import type { PlanSummary } from "@/server/contracts/studio";
import { cascadeText } from "@/solver/wording/wording";
import { useTRPC } from "../api/trpc";
import { shortHash } from "../ui/format";

export interface PlanChoice {
  readonly plan: PlanSummary;
  readonly option: { readonly value: string; readonly text: string };
}

/** Stored plans of a cluster to choose from, newest first. */
export function usePlanChoices(clusterId: string, enabled: boolean): readonly PlanChoice[] {
  const trpc = useTRPC();
  const { data = [] } = useQuery(trpc.plans.list.queryOptions({ clusterId }, { enabled }));
  return data.map((plan) => ({ plan, option: { value: plan.id, text: `${shortHash(plan.id)}: ${cascadeText(plan)}` } }));
}
