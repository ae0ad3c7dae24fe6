import type { Application, ClusterSummary } from "@/server/contracts/studio";
import { isActive } from "./prepareRevisions";

/**
 * The plan in force according to both lists. Clusters and applications are read separately, so the cluster may still name the
 * plan from before an application that is already done; the newer of the two counts. While an application runs, it is
 * the plan that is being replaced, although the new one may already route requests.
 */
export function planInForce(
  applications: readonly Application[],
  { runningPlanId, runningSince }: Pick<ClusterSummary, "runningPlanId" | "runningSince">,
): string | null {
  const underWay = applications.find(isActive);
  if (underWay !== undefined) return underWay.previousPlanId;
  const latest = applications
    .filter((each) => each.state === "done" && each.endedAt !== null)
    .reduce<Application | null>((newest, each) => ((newest?.endedAt ?? "") > (each.endedAt ?? "") ? newest : each), null);
  if (latest === null || latest.endedAt === null) return runningPlanId;
  return runningSince !== null && runningSince > latest.endedAt ? runningPlanId : latest.planId;
}
