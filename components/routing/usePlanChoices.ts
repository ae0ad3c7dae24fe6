"use client";

import { useQuery } from "@tanstack/react-query";
import type { PlanSummary } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import { shortHash } from "../ui/format";

export interface PlanChoice {
  readonly plan: PlanSummary;
  readonly option: { readonly value: string; readonly text: string };
}

/** A plan's models in a line: `8b <84→ 70b` of a cascade, `8b, 70b` where a policy chooses between them. */
export function cascadeText({ stages, thresholds }: Pick<PlanSummary, "stages" | "thresholds">): string {
  if (thresholds.length === 0) return stages.join(", ");
  return stages.map((stage, at) => (at < thresholds.length ? `${stage} <${thresholds[at]}→ ` : stage)).join("");
}

/** Stored plans of a cluster to choose from, newest first. */
export function usePlanChoices(clusterId: string, enabled: boolean): readonly PlanChoice[] {
  const trpc = useTRPC();
  const { data = [] } = useQuery(trpc.plans.list.queryOptions({ clusterId }, { enabled }));
  return data.map((plan) => ({ plan, option: { value: plan.id, text: `${shortHash(plan.id)}: ${cascadeText(plan)}` } }));
}
