import { shownApplication } from "@/server/clusters/apply/applicationSteps";
import type { ApplyOrder, ApplyRunner } from "@/server/clusters/apply/applyRunner";
import type { Application, JournalLine, Outcome } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import type { Actor } from "../base/actor";
import { auditedRefusal } from "../base/auditedRefusal";
import type { ApplyRequest, RollbackRequest } from "../base/inputs";

/** Applications: refused if the running plan is not the one that the operator saw, carried out by the runner, read from the store. */
export function createApplicationService(store: Store, runner: ApplyRunner) {
  /** The plan for a rollback: the starting plan of the last attempt if it failed, else the plan in force before this one. */
  function earlierPlan(clusterId: string): string | null {
    const runningPlanId = store.clusters.get(clusterId)?.runningPlanId ?? null;
    const [latest, ...before] = store.applications.list(clusterId);
    if (latest === undefined) return null;
    if (latest.state === "failed") return latest.previousPlanId;
    const broughtIt = [latest, ...before].find((one) => one.state === "done" && one.planId === runningPlanId);
    return broughtIt?.previousPlanId ?? null;
  }

  /** Starts what a person asked for; a refusal is audited. */
  async function begin(order: ApplyOrder): Promise<Outcome<{ readonly application: Application }>> {
    const { actor, kind, planId, clusterId } = order;
    const attempt = { actor, action: kind, subject: planId ?? "nothing", objectKind: "application", clusterId } as const;
    return auditedRefusal(store, attempt, await runner.start(order));
  }

  return {
    start(
      { planId, clusterId, expectedRunningPlanId, rollBackOnRegression = false }: ApplyRequest,
      actor: Actor,
    ): Promise<Outcome<{ readonly application: Application }>> {
      const runs = store.clusters.get(clusterId)?.runningPlanId ?? null;
      if (runs !== expectedRunningPlanId) {
        const message = "Another plan is in force than when the difference was shown: look at the difference again.";
        const attempt = { actor, action: "apply", subject: planId, objectKind: "application", clusterId } as const;
        return Promise.resolve(auditedRefusal(store, attempt, { ok: false, message }));
      }
      return begin({ clusterId, planId, kind: "apply", actor, rollBackOnRegression });
    },
    /** Puts an earlier plan into force again. */
    rollback: (
      { clusterId, toPlanId, rollBackOnRegression = false }: RollbackRequest,
      actor: Actor,
    ): Promise<Outcome<{ readonly application: Application }>> =>
      begin({ clusterId, planId: toPlanId ?? earlierPlan(clusterId), kind: "rollback", actor, rollBackOnRegression }),
    pause: runner.pause,
    resume: runner.resume,
    abort: runner.abort,
    get(id: string): Application | null {
      const application = store.applications.get(id);
      return application === null ? null : shownApplication(application);
    },
    /** Its actions, oldest first; null: no such application. */
    journal: (id: string): readonly JournalLine[] | null => (store.applications.get(id) === null ? null : store.journal.of(id)),
    list: (clusterId: string): readonly Application[] => store.applications.list(clusterId).map(shownApplication),
  };
}
