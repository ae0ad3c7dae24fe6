import type { Application } from "@/server/contracts/studio";

/** One time a plan came into force on a cluster. */
export interface Revision {
  readonly application: Application;
  /** null: a roll-back to nothing. */
  readonly planId: string | null;
  readonly current: boolean;
  /** Whether going back to it means something: an earlier plan that is not the one in force. */
  readonly canReturn: boolean;
}

/** Applications by time, newest first; of several times one plan was in force only the latest can be returned to. */
export function prepareRevisions(applications: readonly Application[], runningPlanId: string | null): readonly Revision[] {
  const newestFirst = applications
    .filter((application) => application.state === "done")
    .sort((a, b) => b.startedAt.localeCompare(a.startedAt));
  const current = newestFirst.find((application) => application.planId === runningPlanId);
  const offered = new Set<string>();
  return newestFirst.map((application) => {
    const { planId } = application;
    const canReturn = planId !== null && planId !== runningPlanId && !offered.has(planId);
    if (planId !== null) offered.add(planId);
    return { application, planId, current: application === current, canReturn };
  });
}

/** States in which an application still changes the cluster. */
export function isActive(application: Application): boolean {
  return application.state === "grace" || application.state === "running" || application.state === "paused";
}

/** Engines stopped that no step drained before. Requests in them would be lost, so this should be zero. */
export function stopsWithoutDrain(steps: Application["steps"]): number {
  const count = (kind: string) => steps.filter((step) => step.kind === kind).length;
  return Math.max(0, count("stop") - count("drain"));
}
