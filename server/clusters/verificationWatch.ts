import type { PromiseReport } from "@/server/contracts/promise";
import type { Verification } from "@/server/contracts/studio";
import type { StoredApplication } from "@/server/store/applicationRepository";
import type { Store } from "@/server/store/store";
import type { ApplyRunner } from "./applyRunner";
import { lookedAt } from "./verification";

export interface VerificationWatchOptions {
  readonly store: Store;
  readonly runner: Pick<ApplyRunner, "start">;
  /** Of the plan in force on a cluster; null: none is, or nothing was measured yet. */
  readonly reportOf: (clusterId: string) => PromiseReport | null;
  readonly timeScaleOf: (clusterId: string) => number;
  readonly everyMs?: number;
}

/** Reports are made anew every four seconds at most. */
const defaultEveryMs = 5_000;

/** In whose name a rollback is started that an operator asked for beforehand. */
const studio = "studio";

/**
 * Holds each plan that was put into force against its promises, from the end of its application until that is decided; windows that an
 * earlier studio left open go on. Where a plan fails, and that was asked for with its apply, the plan before it is applied again.
 *
 * @returns ends the watching.
 */
export function watchVerifications({
  store,
  runner,
  reportOf,
  timeScaleOf,
  everyMs = defaultEveryMs,
}: VerificationWatchOptions): () => void {
  function note({ id, clusterId, planId }: StoredApplication, action: string, says: string): void {
    const detail = `${store.clusters.get(clusterId)?.spec.name ?? clusterId}, application ${id}: ${says}`;
    store.audit.add({ at: new Date().toISOString(), actor: studio, action, subject: planId ?? "nothing", detail });
  }

  async function rollBack(application: StoredApplication): Promise<void> {
    const { clusterId, previousPlanId: planId } = application;
    if (planId === null) return note(application, "rollback refused", "No plan was in force before it.");
    const started = await runner.start({ clusterId, planId, kind: "rollback", actor: studio });
    if (!started.ok) note(application, "rollback refused", started.message);
  }

  function look(application: StoredApplication, open: Verification): void {
    const { clusterId, planId } = application;
    if (planId === null) return;
    const nowMs = Date.now();
    const running = store.clusters.get(clusterId)?.runningPlanId ?? null;
    const report = running === planId ? reportOf(clusterId) : null;
    // One that was taken back in its grace, or still can be, changed nothing.
    const latest = store.applications.list(clusterId).find(({ state }) => state !== "grace" && state !== "aborted");
    const gone = running !== planId || latest?.id !== application.id;
    const seen: Verification = gone
      ? { ...open, state: "undecided", toMs: nowMs, says: "It was changed again before it was judged." }
      : lookedAt(open, planId, { nowMs, timeScale: timeScaleOf(clusterId), report });
    if (seen === open) return;
    store.atomically(() => {
      store.applications.save({ ...application, verification: seen });
      if (seen.state === "watching") return;
      store.journal.add(application.id, { at: new Date(nowMs).toISOString(), stepId: null, event: "said", detail: seen.says });
      note(application, `verification ${seen.state}`, seen.says);
    });
    if (seen.state === "failed" && application.rollBackOnRegression) void rollBack(application);
  }

  const timer = setInterval(() => {
    for (const application of store.applications.verifying()) {
      if (application.verification !== null) look(application, application.verification);
    }
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
