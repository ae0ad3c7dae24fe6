import type { ComponentProps, ReactNode } from "react";
import type { PanelStatus } from "@/components/ui/PanelState";
import type { PlanView } from "../address/planCodec";
import type { Planning } from "../planning/usePlanning";
import type { NoPlan } from "./NoPlan";

/** The content: the exact plan, an estimate, or why there is none. `waysOut`: the constraints, to be dropped. */
export function statusOf(planning: Planning, infeasible: ReturnType<typeof infeasibleOf>, waysOut: ReactNode): PanelStatus {
  const { exact, estimate, searchesRate } = planning;
  if (searchesRate && planning.knobs.latencyBudgetSeconds === null)
    return {
      kind: "empty",
      title: "No latency budget",
      text: "The highest rate is the one at which the p95 just keeps a budget. Set the latency budget in the settings.",
    };
  if (planning.status.kind === "error") {
    const text = `Without the frontier above there is nothing to choose from.${waysOut === null ? "" : " You can relax the settings:"}`;
    return { kind: "empty", title: "No plan", text, action: waysOut };
  }
  if (exact.status.kind === "error") return exact.status;
  if (infeasible !== null) return { kind: "ready" };
  if (planning.status.kind === "stale" && !exact.current) return { kind: "stale", note: "the results below are for earlier settings." };
  if (searchesRate && exact.plan === null && estimate === null)
    return exact.cancelled
      ? { kind: "empty", title: "No plan yet", text: "The search was cancelled. Search again to find the highest rate." }
      : { kind: "loading", what: "Searching for the highest rate" };
  if (exact.plan === null && estimate === null)
    return exact.working === null && !exact.cancelled
      ? { kind: "loading", what: "Solving the exact plan" }
      : { kind: "empty", title: "No plan yet", text: "The tables do not cover these thresholds; the exact plan does." };
  return { kind: "ready" };
}

/**
 * Why there is no plan, according to the chosen cascade, the exact answer, or the tables if they are missing and nothing else can be shown.
 * The tables are for one rate: where the highest is searched for, they do not know whether a lower one has a plan.
 */
export function infeasibleOf(
  { exact, estimate, choice, searchesRate }: Planning,
  { problem, view }: { readonly problem: string | null; readonly view: PlanView },
): ComponentProps<typeof NoPlan>["answer"] | null {
  if (problem !== null) return { reason: problem, bestQuality: null, bestLatencySeconds: null };
  if (exact.current) return exact.infeasible;
  if (searchesRate) return null;
  // The tables know only why no cascade does.
  return exact.plan === null && estimate === null && view.policy !== "slack" && view.policy !== "cascade-routing"
    ? (choice?.infeasible ?? null)
    : null;
}
