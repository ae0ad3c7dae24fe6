import { randomUUID } from "node:crypto";
import type { Application, Outcome, Refusal } from "@/server/contracts/studio";
import type { StoredApplication } from "@/server/store/applicationRepository";
import type { Store } from "@/server/store/store";
import type { Plan } from "@/solver/plan/plan";
import type { Connector } from "../connector/connector";
import { planSteps } from "../steps/planSteps";
import type { RegressionLook } from "../verification/regression";
import { ApplicationRecord, timestamp } from "./applicationRecord";
import { ApplicationRun } from "./applicationRun";
import { shownApplication, waitingStep } from "./applicationSteps";
import { approvalRefusal } from "./approvalRefusal";
import { claimOfBatch } from "./claims";
import { planMismatch } from "./planMismatch";
import { rollOutOf } from "./rollOutOf";
import { watchRollOut } from "./rollOutWatch";

export interface ApplyRunnerOptions {
  readonly store: Store;
  /** null: that cluster supports planning only. */
  readonly connectorOf: (clusterId: string) => Connector | null;
  /** Called when an application has ended, in any state. */
  readonly onEnd?: (application: Application) => void;
  /**
   * Live traffic of a cluster; a roll-out is halted if it makes that traffic worse; null: nothing is observed now. Absent: roll-outs are
   * never halted.
   */
  readonly watchOf?: (clusterId: string) => RegressionLook | null;
  readonly graceMs?: number;
}

export interface ApplyOrder {
  readonly clusterId: string;
  /** null: stop everything. */
  readonly planId: string | null;
  readonly kind: Application["kind"];
  readonly actor: string;
  /** Absent: no automatic rollback. */
  readonly rollBackOnRegression?: boolean;
}

type Started = Outcome<{ readonly application: Application }>;

/** Long enough to notice a wrong click, and short enough not to delay. */
const defaultGraceMs = 5_000;

/** The actor of automatic actions. */
const studio = "studio";

/** Puts plans into force, one application at a time per cluster, and resumes what a killed studio left unfinished. */
export function createApplyRunner({ store, connectorOf, onEnd, watchOf, graceMs = defaultGraceMs }: ApplyRunnerOptions) {
  const runs = new Map<string, { readonly run: ApplicationRun; readonly ended: Promise<void> }>();
  /** Clusters for which a start is being checked. */
  const starting = new Set<string>();

  const note = (
    actor: string,
    action: string,
    { id, clusterId, planId }: Pick<StoredApplication, "id" | "clusterId" | "planId">,
    detail = "",
  ) =>
    store.audit.add({
      at: new Date().toISOString(),
      actor,
      action,
      subject: planId ?? "nothing",
      detail: `${store.clusters.get(clusterId)?.spec.name ?? clusterId}, application ${id}${detail}`,
      ...{ objectKind: "application", objectId: id, clusterId },
    });

  function launch(application: StoredApplication, connector: Connector, interrupted: boolean): void {
    const onChange = (changed: StoredApplication, before: StoredApplication): void => {
      if (changed.halt !== null && before.halt === null) note(studio, "halt", changed, `: ${changed.halt.sentence}`);
      if (changed.endedAt === null || before.endedAt !== null) return;
      note(changed.actor, `${changed.kind} ${changed.state}`, changed, changed.error === null ? "" : `: ${changed.error}`);
    };
    const run = new ApplicationRun(application, { store, connector, onChange });
    const unwatch = watchOf === undefined ? null : watchRollOut(run, () => watchOf(application.clusterId));
    const ended = run.run({ interrupted }).finally(() => {
      unwatch?.();
      runs.delete(application.id);
      if (run.application.endedAt !== null) onEnd?.(shownApplication(run.application));
    });
    runs.set(application.id, { run, ended });
  }

  const refuse = (message: string): Refusal => ({ ok: false, message });

  async function begin({ clusterId, planId, kind, actor, rollBackOnRegression = false }: ApplyOrder): Promise<Started> {
    const connector = connectorOf(clusterId);
    if (connector === null) return refuse("This cluster is only described: plans for it can be exported, not applied.");
    const plan = planId === null ? null : store.plans.get(planId);
    if (planId !== null && plan === null) return refuse(`Plan ${planId} is not kept: keep it first.`);
    const unapproved = planId === null ? null : approvalRefusal(store, planId, clusterId);
    if (unapproved !== null) return refuse(unapproved);
    const observed = await connector.observe();
    if (!observed.ok) return refuse(observed.message);
    const unfit = plan === null ? null : planMismatch(observed.value, plan);
    if (unfit !== null) return refuse(unfit);
    const obstacle = plan === null ? null : await connector.predictorObstacle(plan.policy);
    if (obstacle !== null) return refuse(obstacle);
    // A way back is not refused: the plan has served before, and its answers count as not scored.
    const silent = plan === null || kind === "rollback" ? null : await connector.gateObstacle(plan.policy);
    if (silent !== null) return refuse(silent);
    const rollOut = rollOutOf(observed.value, plan, connector.emulated);
    if (rollOut.loadOutcomes !== null && store.workloads.summary(rollOut.loadOutcomes) === null) return refuse(workloadGone(plan));
    const claim = claimOfBatch(clusterId, store);
    if (claim !== null) return refuse(claim);
    const now = Date.now();
    const { planId: inForce, active } = observed.value.routing;
    // A gateway may run a plan that another studio set, or one that was written manually.
    const previousPlanId = inForce !== null && store.plans.get(inForce) !== null ? inForce : null;
    const hasWayBack = previousPlanId !== null || (inForce === null && active.length === 0);
    if (rollBackOnRegression && !hasWayBack)
      return refuse("The plan in force is not kept here, so nothing could be rolled back to: apply without the automatic rollback.");
    const application: StoredApplication = {
      id: randomUUID(),
      clusterId,
      planId,
      previousPlanId,
      hasWayBack,
      kind,
      state: "grace",
      startedAt: new Date(now).toISOString(),
      endedAt: null,
      graceEndsAt: new Date(now + graceMs).toISOString(),
      steps: planSteps(rollOut).map(waitingStep),
      error: null,
      actor,
      undoing: false,
      rollBackOnRegression,
      halt: null,
      verification: null,
    };
    store.atomically(() => {
      store.applications.save(application);
      note(actor, kind, application);
    });
    launch(application, connector, false);
    return { ok: true, application: shownApplication(application) };
  }

  async function start(order: ApplyOrder): Promise<Started> {
    const { clusterId } = order;
    if (starting.has(clusterId) || store.applications.open().some((one) => one.clusterId === clusterId)) {
      return refuse("Another application runs on this cluster: wait for its end, or abort it.");
    }
    starting.add(clusterId);
    try {
      return await begin(order);
    } finally {
      starting.delete(clusterId);
    }
  }

  /**
   * An application that an earlier studio began on a cluster to which this one is not connected: it can only be given up in its present
   * state.
   */
  function steerUnreached(application: StoredApplication, actor: string, action: "pause" | "resume" | "abort"): Started {
    if (action !== "abort")
      return refuse("The studio is not connected to its cluster: repair the connection and resume this, or abort it.");
    const error = "Given up where it stood, as the studio was not connected to its cluster.";
    const record = new ApplicationRecord(application, { store, onChange: () => note(actor, "give up", application, `: ${error}`) });
    const change = { state: "failed", error, endedAt: timestamp(), graceEndsAt: null } as const;
    record.save(change, { event: "said", detail: error });
    return { ok: true, application: shownApplication(record.application) };
  }

  /** Runs an action on an application that has not ended. */
  function steer(id: string, actor: string, action: "pause" | "resume" | "abort"): Started {
    const run = runs.get(id)?.run;
    const kept = store.applications.get(id);
    if (run === undefined && kept !== null && kept.endedAt === null) return steerUnreached(kept, actor, action);
    if (run === undefined || run.application.endedAt !== null) return refuse("This application has ended.");
    const { state, undoing } = run.application;
    if (action === "pause" && state === "paused") return refuse("It is paused already.");
    if (action === "resume" && state !== "paused") return refuse("It is not paused.");
    if (action === "abort" && undoing) return refuse("It is being undone already.");
    store.atomically(() => {
      note(actor, action, run.application);
      run[action]();
    });
    return { ok: true, application: shownApplication(run.application) };
  }

  return {
    /** Puts a plan into force; refused if it is not approved, does not fit, or another application runs. */
    start,
    pause: (id: string, actor: string) => steer(id, actor, "pause"),
    resume: (id: string, actor: string) => steer(id, actor, "resume"),
    /** Undoes the steps that were done so far. */
    abort: (id: string, actor: string) => steer(id, actor, "abort"),
    /** Resumes what an earlier studio had begun. Call this once, at start. */
    resumeAll(): void {
      for (const application of store.applications.open()) {
        const connector = connectorOf(application.clusterId);
        if (connector === null) continue;
        note(studio, "resume", application);
        launch(application, connector, true);
      }
    },
    /** Detaches from running applications; the next studio resumes them. */
    async close(): Promise<void> {
      const open = [...runs.values()];
      for (const { run } of open) run.close();
      await Promise.all(open.map(({ ended }) => ended));
    },
  };
}

export type ApplyRunner = ReturnType<typeof createApplyRunner>;

const workloadGone = (plan: Plan | null): string =>
  `The workload ${plan?.inputs.workload.name ?? ""} was removed: the emulated engines have no prompts of it to replay. Import it again and make a new plan.`;
