import { planMismatch } from "@/server/clusters/apply/planMismatch";
import { planDiff } from "@/server/clusters/preview/planDiff";
import type { SolveRequest } from "@/server/contracts/planRequest";
import type { Approval, Outcome, PlanSummary, SolveAnswer } from "@/server/contracts/studio";
import type { RequestOptions } from "@/server/planning/planner/planner";
import { readPlan } from "@/server/planning/planner/readPlan";
import { withProgress } from "@/server/planning/planner/withProgress";
import type { Planning } from "@/server/planning/planningService";
import type { Store } from "@/server/store/store";
import { canonicalJson, type Json } from "@/solver/plan/canonical";
import { constraintsOf } from "@/solver/plan/constraints";
import type { Plan } from "@/solver/plan/plan";
import { isPredicted, modelsOf, thresholdsOf } from "@/solver/plan/policySchema";
import type { PlanService } from "../base/planServices";
import { justInTimePlan } from "./justInTimePlan";
import { predictorRefusal } from "./predictorRefusal";
import { createRemainingCascade } from "./remainingCascade";
import { reroutePlan } from "./reroutePlan";
import { createRollOutPreview, type RollOutPreviewParts } from "./rollOutPreview";

export interface PlanServiceOptions {
  readonly store: Store;
  readonly clusterOf: RollOutPreviewParts["clusterOf"];
  readonly planning: Planning;
}

/** Solved plans that nobody kept are forgotten beyond this number: about 10 kB each. */
const rememberedPlans = 200;

/** Plans: found by the planner, kept, compared with what runs, approved, brought in from elsewhere. */
export function createPlanService({ store, clusterOf, planning }: PlanServiceOptions): PlanService {
  const solved = new Map<string, Plan>();
  const note = (actor: string, action: string, subject: string, detail = "") =>
    store.audit.add({ at: new Date().toISOString(), actor, action, subject, detail });
  // The last question first: the same plan may answer another one than it was kept for.
  const known = (id: string): Plan | null => solved.get(id) ?? store.plans.get(id);
  const runs = (id: string): boolean => store.clusters.list().some((cluster) => cluster.runningPlanId === id);

  function remember(plan: Plan): void {
    solved.delete(plan.id);
    solved.set(plan.id, plan);
    const oldest = solved.keys().next().value;
    if (solved.size > rememberedPlans && oldest !== undefined) solved.delete(oldest);
  }

  async function solve(request: SolveRequest, asking: RequestOptions): Promise<SolveAnswer> {
    const answer = await planning.solve(request, asking);
    if (answer.outcome === "plan") remember(answer.plan);
    return answer;
  }

  function summary(plan: Plan): PlanSummary {
    const { id, metadata, policy, deployment, predictions, inputs } = plan;
    const figures = isPredicted(policy) ? predictions : { quality: null, p95Seconds: null, costUsdPerRequest: null };
    const approval = store.approvals.ofPlan(id).find(({ clusterId }) => clusterId === inputs.cluster.id);
    return {
      id,
      name: metadata.name,
      createdAt: metadata.createdAt,
      clusterId: inputs.cluster.id,
      workloadId: inputs.workload.id,
      workloadName: inputs.workload.name,
      stages: modelsOf(policy),
      thresholds: thresholdsOf(policy),
      gpus: deployment.reduce((sum, one) => sum + one.gpus, 0),
      quality: figures.quality,
      p95Seconds: figures.p95Seconds,
      costUsdPerRequest: figures.costUsdPerRequest,
      approvedBy: approval?.actor ?? null,
      approvalReason: approval?.reason ?? null,
      running: runs(id),
    };
  }

  function keep(plan: Plan, actor: string, how: string): Outcome<{ readonly id: string }> {
    const kept = store.plans.get(plan.id);
    // Only ids of documents that were sealed before ids covered the cluster can be the same for two.
    if (kept !== null && kept.inputs.cluster.id !== plan.inputs.cluster.id)
      return {
        ok: false,
        message: `Plan ${plan.id.slice(0, 8)} is kept for ${kept.inputs.cluster.name} already: solve it again for this cluster.`,
      };
    const anew = kept !== null && canonicalJson(asJson(kept.inputs)) !== canonicalJson(asJson(plan.inputs));
    if (kept === null || anew) {
      store.atomically(() => {
        store.plans.keep(plan);
        note(actor, anew ? "solve again" : how, plan.id, anew ? askedText(plan) : plan.metadata.name);
      });
    }
    return { ok: true, id: plan.id };
  }

  return {
    ...createRollOutPreview({ store, clusterOf, planning, planOf: known }),
    ...createRemainingCascade({ clusterOf, planning, planOf: known }),
    explore: (request, signal) => withProgress((asking) => planning.explore(request, asking), signal),
    solve: (request, signal) => withProgress((asking) => solve(request, asking), signal),
    examine: planning.examine,
    keep(planId, actor) {
      const plan = known(planId);
      if (plan === null) return { ok: false, message: "This plan was solved too long ago: solve it again." };
      // What a plan in force promises changes by an approval only.
      return runs(planId) ? { ok: true, id: planId } : keep(plan, actor, "keep");
    },
    list: (clusterId) => store.plans.list(clusterId).map(summary),
    get(planId) {
      const plan = known(planId);
      return plan === null ? null : { plan, summary: summary(plan), approvals: store.approvals.ofPlan(planId) };
    },
    async diff(planId, clusterId) {
      const target = known(planId);
      const connector = clusterOf(clusterId)?.connector ?? null;
      if (target === null) return { ok: false, message: `There is no plan ${planId}.` };
      if (connector === null) return { ok: false, message: "This cluster is only described: nothing runs there to compare with." };
      const observed = await connector.observe();
      if (!observed.ok) return observed;
      const unfit = planMismatch(observed.value, target);
      if (unfit !== null) return { ok: false, message: unfit };
      // Routing may be switched early: a plan that is being put into force is told against the one that it replaces until it is done.
      const replacing = store.applications.open().find((one) => one.clusterId === clusterId && one.planId === planId);
      const runningId = replacing === undefined ? observed.value.routing.planId : replacing.previousPlanId;
      const running = runningId === null ? null : store.plans.get(runningId);
      return { ok: true, diff: planDiff({ observation: observed.value, running, target, emulated: connector.emulated }) };
    },
    approve({ planId, clusterId, hash, reason }, actor) {
      const plan = known(planId);
      if (plan === null) return { ok: false, message: `There is no plan ${planId}.` };
      if (hash !== plan.id) return { ok: false, message: "The hash is not this plan's: look at the plan again before you approve it." };
      const cluster = store.clusters.get(clusterId);
      if (cluster === null) return { ok: false, message: `There is no cluster ${clusterId}.` };
      const refusal = predictorRefusal(store, plan.policy);
      if (refusal !== null) return { ok: false, message: refusal };
      const approval: Approval = { planId, clusterId, actor, at: new Date().toISOString(), reason };
      return store.atomically(() => {
        const kept = keep(plan, actor, "keep");
        if (!kept.ok) return kept;
        store.approvals.insert(approval);
        note(actor, "approve", planId, `on ${cluster.spec.name}${reason === "" ? "" : `: ${reason}`}`);
        return { ok: true, approval };
      });
    },
    reroute({ planId, ...routing }, actor) {
      const base = known(planId);
      if (base === null) return { ok: false, message: `There is no plan ${planId}.` };
      const rerouted = reroutePlan(base, routing);
      if (!rerouted.ok) return rerouted;
      const refusal = predictorRefusal(store, routing.policy);
      return refusal === null ? keep(rerouted.plan, actor, "reroute plan") : { ok: false, message: refusal };
    },
    justInTime(request, actor) {
      const base = known(request.planId);
      if (base === null) return { ok: false, message: `There is no plan ${request.planId}.` };
      const made = justInTimePlan(store, base, request);
      if (!made.ok) return made;
      const refusal = predictorRefusal(store, made.plan.policy);
      return refusal === null ? keep(made.plan, actor, "plan just in time") : { ok: false, message: refusal };
    },
    importDocument(document, actor) {
      const read = readPlan(document);
      if (!read.ok) return read;
      const refusal = predictorRefusal(store, read.plan.policy);
      if (refusal !== null) return { ok: false, message: refusal };
      return runs(read.plan.id) ? { ok: true, id: read.plan.id } : keep(read.plan, actor, "import plan");
    },
  };
}

const asJson = (inputs: Plan["inputs"]): Json => inputs as unknown as Json;

/** What a plan is asked for, for the audit. */
function askedText({ inputs }: Plan): string {
  const { workload, objective, constraints } = inputs;
  const asked = constraints === undefined ? [] : constraintsOf(constraints).map(({ says }) => says);
  const floor = objective.qualityFloor === null ? [] : [`a floor of ${objective.qualityFloor}`];
  const budget = objective.latencyBudgetSeconds === null ? [] : [`a budget of ${objective.latencyBudgetSeconds} s`];
  return [`${workload.requestsPerSecond} requests/s of ${workload.name}`, ...floor, ...budget, ...asked].join(", ");
}
