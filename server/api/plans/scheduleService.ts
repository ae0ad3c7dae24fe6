import { approvalRefusal, planWords } from "@/server/clusters/apply/approvalRefusal";
import { nextAfter, shownIn } from "@/server/clusters/watch/scheduleClock";
import { freshMemory, type SchedulesOptions, SWITCH_WITHIN_MS, switchObstacle } from "@/server/clusters/watch/schedules";
import type { Outcome, Refusal, Schedule, ScheduleState } from "@/server/contracts/studio";
import { localTime, unknownZone } from "@/server/lib/localTime";
import type { ScheduleRow } from "@/server/store/scheduleRepository";
import type { Actor } from "../base/actor";

type ScheduleParts = Pick<SchedulesOptions, "store" | "clusterOf" | "now">;

/** Operators' schedules; the switching itself is done by `createSchedules`. */
export function createScheduleService({ store, clusterOf, now = Date.now }: ScheduleParts) {
  const timestamp = (): string => new Date(now()).toISOString();
  const refuse = (message: string): Refusal => ({ ok: false, message });

  function note(actor: string, action: string, { clusterId, schedule }: Pick<ScheduleRow, "clusterId" | "schedule">): void {
    const times = schedule.entries.map(({ at, planId }) => `${at} ${planWords(store, planId)}`).join(", ");
    const subject = store.clusters.get(clusterId)?.spec.name ?? clusterId;
    const about = { objectKind: "schedule", objectId: clusterId, clusterId } as const;
    store.audit.add({ at: timestamp(), actor, action, subject, detail: `${times}; times in ${schedule.timeZone}`, ...about });
  }

  /** Why a schedule cannot be switched on now; null: it can. */
  function refusal({ clusterId, entries, timeZone }: ScheduleRow["schedule"]): string | null {
    const cluster = store.clusters.get(clusterId);
    if (cluster === null) return `There is no cluster ${clusterId}.`;
    if (cluster.spec.kind === "described") return "This cluster is only described: plans for it can be exported, not applied.";
    if (localTime(timeZone) === null) return unknownZone(timeZone);
    for (const { planId } of entries) {
      if (store.plans.get(planId) === null) return `Plan ${planId.slice(0, 8)} is not kept: keep it first.`;
      const unapproved = approvalRefusal(store, planId, clusterId);
      if (unapproved !== null) return unapproved;
    }
    const busy = store.applications.open().some((one) => one.clusterId === clusterId);
    return busy ? "A roll-out is under way on this cluster: wait for its end, or abort it." : null;
  }

  /** Switches it on, in the actor's name: it begins at the next of its times. */
  function begin(schedule: ScheduleRow["schedule"], actor: string, action: string): Outcome<object> {
    const problem = refusal(schedule);
    if (problem !== null) return refuse(problem);
    const { clusterId } = schedule;
    const running = store.clusters.get(clusterId)?.runningPlanId ?? null;
    const memory = freshMemory(running, now(), null);
    store.atomically(() => {
      store.schedules.save({ clusterId, schedule, enabled: true, setBy: actor, setAt: timestamp(), memory });
      note(actor, action, { clusterId, schedule });
    });
    return { ok: true };
  }

  function problemOf({ clusterId, schedule, enabled, memory }: ScheduleRow): string | null {
    const trying = memory?.trying ?? null;
    if (enabled && trying !== null && trying.message !== "") {
      const until = shownIn(schedule.timeZone, trying.sinceMs + SWITCH_WITHIN_MS);
      return `The switch to ${planWords(store, trying.planId)} waits: ${trying.message} It is tried until ${until}.`;
    }
    const next = nextAfter(schedule, now());
    return next === null ? unknownZone(schedule.timeZone) : switchObstacle({ store, clusterOf }, clusterId, next.planId);
  }

  return {
    get(clusterId: string): ScheduleState | null {
      const row = store.schedules.get(clusterId);
      if (row === null) return null;
      const { schedule, enabled, setBy, setAt, memory } = row;
      const next = enabled ? nextAfter(schedule, now()) : null;
      return {
        schedule,
        enabled,
        setBy,
        setAt,
        next:
          next === null
            ? null
            : {
                at: new Date(next.atMs).toISOString(),
                planId: next.planId,
                planName: store.plans.get(next.planId)?.metadata.name ?? next.planId.slice(0, 8),
              },
        last: memory?.last ?? null,
        problem: problemOf(row),
      };
    },
    /** Refused unless every plan is saved and approved for the cluster. */
    set: (schedule: Schedule, actor: Actor): Outcome<object> => begin(schedule, actor, "set schedule"),
    enable(clusterId: string, enabled: boolean, actor: Actor): Outcome<object> {
      const row = store.schedules.get(clusterId);
      if (row === null) return refuse("This cluster has no schedule: set one first.");
      if (enabled === row.enabled) return { ok: true };
      if (enabled) return begin(row.schedule, actor, "switch schedule on");
      store.atomically(() => {
        const memory = row.memory === null ? null : { ...row.memory, trying: null };
        store.schedules.save({ ...row, enabled: false, memory });
        note(actor, "switch schedule off", row);
      });
      return { ok: true };
    },
    remove(clusterId: string, actor: Actor): Outcome<object> {
      const row = store.schedules.get(clusterId);
      if (row === null) return { ok: true };
      store.atomically(() => {
        store.schedules.remove(clusterId);
        note(actor, "remove schedule", row);
      });
      return { ok: true };
    },
  };
}
