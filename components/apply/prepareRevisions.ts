import type { Application, AuditLine } from "@/server/contracts/studio";

/** One time a plan came into force on a cluster. */
export interface Revision {
  readonly application: Application;
  /** null: a roll-back to nothing. */
  readonly planId: string | null;
  readonly current: boolean;
  /** Whether a roll-back to it is possible: an earlier plan that is not the one in force. */
  readonly canReturn: boolean;
}

/** Applications by time, newest first; if a plan was in force several times, only the latest can be rolled back to. */
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

/** A change of the routing at the gateway: it started or stopped no engine. */
export interface RoutingChange {
  readonly line: AuditLine;
  /** Whether it is the latest that came into force. */
  readonly current: boolean;
}

/** A roll-out that ended without its plan in force: failed, aborted, or undone. */
export interface Attempt {
  readonly attempt: Application;
}

/** The gateway's audit lines about another plan in force, and about another policy of the same plan. */
const PLAN_CHANGES: readonly string[] = ["canary promoted", "rolled back"];
const POLICY_CHANGES: readonly string[] = ["controls set"];

/** The lines of one cluster's gateway. */
export const linesOfGateway = (
  audit: readonly AuditLine[],
  cluster: { readonly id: string; readonly name: string },
): readonly AuditLine[] =>
  audit.filter(({ subject }) => subject === (cluster.id === "embedded" ? "gateway" : `gateway of ${cluster.name}`));

type Entry = Revision | RoutingChange | Attempt;

/** Everything that was in force or was to be, newest first: applied plans, failed roll-outs, and changes of the routing at the gateway. */
export function prepareInForce(
  revisions: readonly Revision[],
  applications: readonly Application[],
  audit: readonly AuditLine[],
): readonly Entry[] {
  const lines = audit.filter(({ action }) => PLAN_CHANGES.includes(action) || POLICY_CHANGES.includes(action));
  const replaced = (revision: Revision): boolean =>
    lines.some(({ action, at }) => PLAN_CHANGES.includes(action) && at > revision.application.startedAt);
  const applied = revisions.map((each) => ({ ...each, current: each.current && !replaced(each) }));
  const attempts = applications.filter((each) => !isActive(each) && each.state !== "done").map((attempt) => ({ attempt }));
  const entries: Entry[] = [...applied, ...attempts, ...lines.map((line) => ({ line, current: false }))];
  entries.sort((a, b) => timeOf(b).localeCompare(timeOf(a)));
  const newest = entries.find((entry) => !("attempt" in entry));
  return entries.map((entry) => (entry === newest && "line" in entry ? { ...entry, current: true } : entry));
}

function timeOf(entry: Entry): string {
  if ("line" in entry) return entry.line.at;
  return ("attempt" in entry ? entry.attempt : entry.application).startedAt;
}

/** Why no roll-back is possible, one sentence per reason; empty where one is possible. */
export function noWayBack(applications: readonly Application[], revisions: readonly Revision[]): string {
  if (applications.length === 0) return "No plan has been applied to this cluster yet, so there is none to roll back to.";
  if (revisions.length === 0)
    return applications.some(isActive)
      ? "The first plan of this cluster is being applied: abort it to go back to nothing."
      : "No plan has come into force here yet, so there is none to roll back to.";
  if (revisions.some(({ canReturn }) => canReturn)) return "";
  return revisions.some(({ current }) => current)
    ? "This is the only plan that was in force here: a rollback ends it and stops the engines that Weir started."
    : "The current state was not applied by this studio, and no earlier plan is stored.";
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
