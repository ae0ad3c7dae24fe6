import type { Application, ClusterSummary } from "@/server/contracts/studio";

/**
 * The plan in force as far as both lists know. Clusters and applications are read apart, so the cluster may still name the
 * plan from before an application that is already done; whichever of the two is newer counts.
 */
export function planInForce(
  applications: readonly Application[],
  { runningPlanId, runningSince }: Pick<ClusterSummary, "runningPlanId" | "runningSince">,
): string | null {
  const latest = applications
    .filter((each) => each.state === "done" && each.endedAt !== null)
    .reduce<Application | null>((newest, each) => ((newest?.endedAt ?? "") > (each.endedAt ?? "") ? newest : each), null);
  if (latest === null || latest.endedAt === null) return runningPlanId;
  return runningSince !== null && runningSince > latest.endedAt ? runningPlanId : latest.planId;
}
