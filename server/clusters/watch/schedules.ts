import type { Application, Outcome } from "@/server/contracts/studio";
import type { ScheduleMemory } from "@/server/store/documents/scheduleMemory";
import type { ScheduleRow } from "@/server/store/scheduleRepository";
import type { Store } from "@/server/store/store";
import type { Collector } from "@/server/telemetry/collector";
import { learntOf } from "@/solver/plan/policySchema";
import { approvalRefusal, planWords } from "../apply/approvalRefusal";
import { holdsAt, type Switch, shownIn } from "./scheduleClock";

export interface SchedulesOptions {
  readonly store: Store;
  /** Applies a plan in the way an operator does. */
  readonly start: (
    order: {
      readonly planId: string;
      readonly clusterId: string;
      readonly expectedRunningPlanId: string | null;
      readonly rollBackOnRegression: boolean;
    },
    actor: string,
  ) => Promise<Outcome<{ readonly application: Application }>>;
  /** null: the studio is not connected to it. */
  readonly clusterOf: (clusterId: string) => { collector(): Pick<Collector, "routing"> | null } | null;
  readonly now?: () => number;
  readonly everyMs?: number;
}

const defaultEveryMs = 2_000;

/** A later switch would come as a surprise. */
export const SWITCH_WITHIN_MS = 900_000;

/** The actor of a schedule's applications. */
const scheduleActor = ({ setBy }: Pick<ScheduleRow, "setBy">): string => `schedule of ${setBy}`;

/** The initial memory of a schedule: it continues from the plan in force, at the next of its times. */
export const freshMemory = (runningPlanId: string | null, nowMs: number, last: ScheduleMemory["last"]): ScheduleMemory => ({
  expectedPlanId: runningPlanId,
  settledMs: nowMs,
  trying: null,
  rollingId: null,
  last,
});

/** Why a schedule cannot switch to a plan now, in a sentence; null: it can. */
export function switchObstacle(
  { store, clusterOf }: Pick<SchedulesOptions, "store" | "clusterOf">,
  clusterId: string,
  planId: string,
): string | null {
  const words = planWords(store, planId);
  const plan = store.plans.get(planId);
  if (plan === null) return `${words} is not kept any more: set the schedule with another.`;
  const unapproved = approvalRefusal(store, planId, clusterId);
  if (unapproved !== null) return unapproved;
  const lost = learntOf(plan.policy).find((hash) => !store.artefacts.has(hash));
  if (lost !== undefined)
    return `${words} names the predictor ${lost.slice(0, 12)}, which is not kept here any more: set the schedule with another plan.`;
  const routing = clusterOf(clusterId)?.collector()?.routing() ?? null;
  if (routing === null) return "The cluster's gateway was not heard yet.";
  const { panic = null, canary = null } = routing.controls ?? {};
  if (panic !== null) return `A panic of ${panic.by} is on: clear it.`;
  return canary?.state !== "running" ? null : `A canary of ${canary.by} is under way: end it.`;
}

/**
 * Puts plans into force by time of day. A due switch is carried out like an operator's apply, is rolled back automatically if it makes
 * things worse, and is retried for a quarter of an hour. A schedule continues only from the plan that was in force when it was set or that
 * it put into force itself: if somebody else changed the plan, it is switched off. Its whole state is in the store, so that a studio that
 * was down at a due time then does once what is due by then.
 */
export function createSchedules(options: SchedulesOptions) {
  const { store, start, now = Date.now, everyMs = defaultEveryMs } = options;

  const timestamp = (): string => new Date(now()).toISOString();
  const clusterName = (clusterId: string): string => store.clusters.get(clusterId)?.spec.name ?? clusterId;

  function save(row: ScheduleRow, change: Partial<ScheduleMemory>, enabled = row.enabled): ScheduleRow {
    const memory = { ...(row.memory ?? freshMemory(null, now(), null)), ...change };
    const saved = { ...row, memory, enabled };
    store.schedules.save(saved);
    return saved;
  }

  const note = (row: ScheduleRow, action: string, planId: string | null, detail: string): void =>
    store.audit.add({
      at: timestamp(),
      actor: scheduleActor(row),
      action,
      subject: planId ?? "nothing",
      detail: `${clusterName(row.clusterId)}: ${detail}`,
      ...{ objectKind: "schedule", objectId: row.clusterId, clusterId: row.clusterId },
    });

  const told = (ok: boolean, message: string, applicationId: string | null = null): ScheduleMemory["last"] => ({
    at: timestamp(),
    ok,
    message,
    applicationId,
  });

  function switchOff(row: ScheduleRow, reason: string): void {
    store.atomically(() => {
      save(row, { trying: null, last: told(false, `Switched off: ${reason}`) }, false);
      note(row, "schedule switched off", store.clusters.get(row.clusterId)?.runningPlanId ?? null, reason);
    });
  }

  /** Claims an application that this schedule began, also if the studio was killed before that was noted. */
  function adopt(row: ScheduleRow): ScheduleRow {
    const trying = row.memory?.trying ?? null;
    if (trying === null) return row;
    const applications = store.applications.list(row.clusterId);
    const after = applications.findIndex(({ id }) => id === trying.afterId);
    const begun = applications
      .slice(0, after === -1 ? applications.length : after)
      .find((one) => one.kind === "apply" && one.planId === trying.planId && one.actor === scheduleActor(row));
    if (begun === undefined) return row;
    return store.atomically(() => {
      note(row, "scheduled switch", begun.planId, `${shownIn(row.schedule.timeZone, trying.switchMs)}, application ${begun.id}`);
      const message = `${planWords(store, begun.planId)} is being put into force.`;
      return save(row, { trying: null, rollingId: begun.id, settledMs: trying.switchMs, last: told(true, message, begun.id) });
    });
  }

  /** Notes the result of its own application, once that has ended. */
  function noteEnd(row: ScheduleRow): ScheduleRow {
    const rollingId = row.memory?.rollingId ?? null;
    const application = rollingId === null ? null : store.applications.get(rollingId);
    if (application === null || application.endedAt === null) return row;
    const { id, planId, state, error, halt } = application;
    const words = planWords(store, planId);
    if (state === "done") return save(row, { rollingId: null, expectedPlanId: planId, last: told(true, `${words} came into force.`, id) });
    const why = error ?? halt?.sentence ?? "it was taken back.";
    return save(row, { rollingId: null, last: told(false, `${words} did not come into force: ${why}`, id) });
  }

  /** The origin of a plan in force that the schedule did not apply. */
  function howItCame({ clusterId, memory }: ScheduleRow, planId: string | null): string {
    const own = memory?.last?.applicationId ?? null;
    const { verification = null } = (own === null ? null : store.applications.get(own)) ?? {};
    const [latest] = store.applications.list(clusterId);
    if (latest?.kind === "rollback" && verification?.state === "failed") return `is in force again: ${verification.says}`;
    const by = latest?.planId === planId ? `by ${latest.actor}` : "at the gateway";
    return `was put into force ${by}, not by the schedule, and is left alone.`;
  }

  async function attempt(row: ScheduleRow, due: Switch): Promise<void> {
    const { clusterId } = row;
    const kept = row.memory?.trying ?? null;
    const afterId = store.applications.list(clusterId)[0]?.id ?? null;
    const trying =
      kept?.switchMs === due.atMs ? { ...kept, afterId } : { switchMs: due.atMs, sinceMs: now(), planId: due.planId, afterId, message: "" };
    save(row, { trying });
    const running = store.clusters.get(clusterId)?.runningPlanId ?? null;
    const busy = store.applications.open().some((one) => one.clusterId === clusterId);
    const obstacle = busy ? "A roll-out is under way on this cluster." : switchObstacle(options, clusterId, due.planId);
    const started =
      obstacle === null
        ? await start({ planId: due.planId, clusterId, expectedRunningPlanId: running, rollBackOnRegression: true }, scheduleActor(row))
        : { ok: false as const, message: obstacle };
    const fresh = store.schedules.get(clusterId);
    // The schedule was replaced, switched off or removed during the call to the cluster.
    if (fresh === null || fresh.setAt !== row.setAt || !fresh.enabled) return;
    if (started.ok) return void adopt(fresh);
    if (now() - trying.sinceMs < SWITCH_WITHIN_MS) {
      if (trying.message !== started.message) save(fresh, { trying: { ...trying, message: started.message } });
      return;
    }
    const time = shownIn(row.schedule.timeZone, due.atMs);
    const message = `The switch to ${planWords(store, due.planId)} of ${time} was given up after 15 minutes: ${started.message}`;
    store.atomically(() => {
      save(fresh, { trying: null, settledMs: due.atMs, last: told(false, message) });
      note(fresh, "scheduled switch given up", due.planId, `${time}: ${started.message}`);
    });
  }

  async function look(given: ScheduleRow): Promise<void> {
    const row = noteEnd(adopt(given));
    if (!row.enabled || row.memory === null || row.memory.rollingId !== null) return;
    const { clusterId, memory } = row;
    const cluster = store.clusters.get(clusterId);
    if (cluster === null || cluster.spec.kind === "described")
      return switchOff(row, "the studio is not connected to this cluster any more.");
    const busy = store.applications.open().some((one) => one.clusterId === clusterId);
    const { runningPlanId } = cluster;
    if (!busy && runningPlanId !== memory.expectedPlanId) {
      return switchOff(row, `${planWords(store, runningPlanId)} ${howItCame(row, runningPlanId)}`);
    }
    const due = holdsAt(row.schedule, now());
    if (due === null || due.atMs <= memory.settledMs) return;
    if (!busy && due.planId === runningPlanId) {
      save(row, { trying: null, settledMs: due.atMs, last: told(true, `${planWords(store, due.planId)} was in force already.`) });
      return;
    }
    await attempt(row, due);
  }

  async function lookAll(): Promise<void> {
    for (const { clusterId } of store.schedules.list()) {
      // It may have been replaced during the call to another cluster.
      const row = store.schedules.get(clusterId);
      if (row === null) continue;
      try {
        await look(row);
      } catch (problem) {
        process.stderr.write(`The schedule of ${clusterName(clusterId)} failed, and is looked at again: ${problem}\n`);
      }
    }
  }

  let looking: Promise<void> | null = null;
  const lookOnce = (): void => {
    looking ??= lookAll().finally(() => {
      looking = null;
    });
  };
  const timer = setInterval(lookOnce, everyMs);
  timer.unref();

  return {
    /** Stops switching; the next studio continues. */
    async close(): Promise<void> {
      clearInterval(timer);
      await looking;
    },
  };
}
