import { unpredictedPlan } from "@/server/clusters/watch/promiseWindow";
import type { Verification } from "@/server/contracts/studio";
import type { PromiseReport } from "@/server/contracts/studio/promise";
import type { StoredApplication } from "@/server/store/applicationRepository";
import type { Store } from "@/server/store/store";
import type { ApplyRunner } from "../apply/applyRunner";
import { lookedAt } from "../verification/verification";

type RollBackDue = NonNullable<Verification["rollBackDue"]>;

export interface VerificationWatchOptions {
  readonly store: Store;
  readonly runner: Pick<ApplyRunner, "start">;
  /** Report of the plan in force on a cluster, over measurements since then; null: there is none, or nothing was measured yet. */
  readonly reportOf: (clusterId: string, sinceMs: number) => PromiseReport | null;
  readonly timeScaleOf: (clusterId: string) => number;
  readonly everyMs?: number;
}

/** Reports are renewed every four seconds at most. */
const defaultEveryMs = 5_000;

/** A later rollback would come as a surprise. */
const rollBackWithinMs = 1_800_000;

/** The actor of a rollback that an operator requested in advance. */
const studio = "studio";

/**
 * Compares each plan that was put into force with its promises, from the end of its application until that is decided; windows that an
 * earlier studio left open continue. If a plan fails, and its apply requested a rollback, the previous plan is applied again as soon as
 * possible.
 *
 * @returns a function that ends the watch.
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
    const about = { objectKind: "application", objectId: id, clusterId } as const;
    store.audit.add({ at: new Date().toISOString(), actor: studio, action, subject: planId ?? "nothing", detail, ...about });
  }

  /** An application that was cancelled in its grace period, or can still be cancelled, changed nothing. */
  function isGone({ id, clusterId, planId }: StoredApplication): boolean {
    const latest = store.applications.list(clusterId).find(({ state }) => state !== "grace" && state !== "aborted");
    return store.clusters.get(clusterId)?.runningPlanId !== planId || latest?.id !== id;
  }

  /** Tries until it begins, also in the next studio: the gateway may be silent now, or the studio may be killed. */
  async function rollBack(application: StoredApplication, open: Verification, { fromMs, verdict }: RollBackDue): Promise<void> {
    const { clusterId, previousPlanId: planId } = application;
    const { rollBackDue: _, ...closed } = { ...open, says: verdict };
    const save = (verification: Verification): void => store.applications.save({ ...application, verification });
    const giveUp = (reason: string): void =>
      store.atomically(() => {
        save({ ...closed, says: `${verdict} It was not rolled back: ${reason}` });
        note(application, "rollback given up", reason);
      });
    if (isGone(application)) return save(closed);
    if (planId === null) return giveUp("No plan was in force before it.");
    const started = await runner.start({ clusterId, planId, kind: "rollback", actor: studio });
    if (started.ok) return save(closed);
    if (Date.now() - fromMs >= rollBackWithinMs) return giveUp(started.message);
    const says = `${verdict} The rollback is due, and waits: ${started.message}`;
    if (says === open.says) return;
    store.atomically(() => {
      save({ ...open, says });
      note(application, "rollback waits", started.message);
    });
  }

  function look(application: StoredApplication, open: Verification): void {
    const { clusterId, planId } = application;
    if (planId === null) return;
    const nowMs = Date.now();
    const running = store.clusters.get(clusterId)?.runningPlanId ?? null;
    const report = running === planId ? reportOf(clusterId, open.fromMs) : null;
    const plan = store.plans.get(planId);
    const unpredicted = plan === null ? null : unpredictedPlan(plan);
    const seen: Verification = isGone(application)
      ? { ...open, state: "undecided", toMs: nowMs, says: "It was changed again before it was judged." }
      : lookedAt(open, planId, { nowMs, timeScale: timeScaleOf(clusterId), report, unpredicted });
    if (seen === open) return;
    const isDue = seen.state === "failed" && application.rollBackOnRegression;
    const verification = isDue ? { ...seen, rollBackDue: { fromMs: nowMs, verdict: seen.says } } : seen;
    store.atomically(() => {
      store.applications.save({ ...application, verification });
      if (seen.state === "watching") return;
      store.journal.add(application.id, { at: new Date(nowMs).toISOString(), stepId: null, event: "said", detail: seen.says });
      note(application, `verification ${seen.state}`, seen.says);
    });
  }

  let looking = false;
  async function lookAtAll(): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      for (const application of store.applications.verifying()) {
        const { verification } = application;
        if (verification?.rollBackDue !== undefined) await rollBack(application, verification, verification.rollBackDue);
        else if (verification !== null) look(application, verification);
      }
    } catch (problem) {
      process.stderr.write(`Looking whether plans keep their promises failed, and is tried again: ${problem}\n`);
    } finally {
      looking = false;
    }
  }

  const timer = setInterval(() => void lookAtAll(), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
