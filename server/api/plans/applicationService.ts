import { shownApplication } from "@/server/clusters/apply/applicationSteps";
import type { ApplyRunner } from "@/server/clusters/apply/applyRunner";
import type { Store } from "@/server/store/store";
import type { ApplicationService } from "../base/planServices";

/** Applications: refused when what runs is not what the operator saw, carried out by the runner, read from the store. */
export function createApplicationService(store: Store, runner: ApplyRunner): ApplicationService {
  /** The plan to go back to: what the last attempt started from if it failed, else the plan in force before this one. */
  function earlierPlan(clusterId: string): string | null {
    const runningPlanId = store.clusters.get(clusterId)?.runningPlanId ?? null;
    const [latest, ...before] = store.applications.list(clusterId);
    if (latest === undefined) return null;
    if (latest.state === "failed") return latest.previousPlanId;
    const broughtIt = [latest, ...before].find((one) => one.state === "done" && one.planId === runningPlanId);
    return broughtIt?.previousPlanId ?? null;
  }

  return {
    start({ planId, clusterId, expectedRunningPlanId, rollBackOnRegression = false }, actor) {
      const runs = store.clusters.get(clusterId)?.runningPlanId ?? null;
      if (runs !== expectedRunningPlanId) {
        const message = "Another plan is in force than when the difference was shown: look at the difference again.";
        return Promise.resolve({ ok: false, message });
      }
      return runner.start({ clusterId, planId, kind: "apply", actor, rollBackOnRegression });
    },
    rollback: ({ clusterId, toPlanId, rollBackOnRegression = false }, actor) =>
      runner.start({ clusterId, planId: toPlanId ?? earlierPlan(clusterId), kind: "rollback", actor, rollBackOnRegression }),
    pause: runner.pause,
    resume: runner.resume,
    abort: runner.abort,
    get(id) {
      const application = store.applications.get(id);
      return application === null ? null : shownApplication(application);
    },
    journal: (id) => (store.applications.get(id) === null ? null : store.journal.of(id)),
    list: (clusterId) => store.applications.list(clusterId).map(shownApplication),
  };
}
