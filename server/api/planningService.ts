import type { PlanService } from "./services";

/** The planner's worker threads behind the API. */
export function createPlanningService(): Pick<PlanService, "explore" | "solve"> {
  const message = "This build has no planner yet.";
  return {
    explore: () => Promise.resolve({ ok: false, message }),
    solve: () => Promise.resolve({ outcome: "infeasible", reason: message, bestQuality: null, bestLatencySeconds: null }),
  };
}
