import { planMismatch } from "@/server/clusters/apply/planMismatch";
import { silentModels } from "@/server/clusters/connector/silentModels";
import { planDiff } from "@/server/clusters/preview/planDiff";
import { plannedLimits, targetEngines } from "@/server/clusters/steps/targetEngines";
import { approvalHash, contentHash } from "@/server/contracts/gateway/planHash";
import type { DispatchRequest, ExploreRequest, SolveRequest } from "@/server/contracts/planRequest";
import type {
  Approval,
  Caller,
  DispatchEvent,
  ExploreEvent,
  KeptPlan,
  MixEvent,
  MixRequest,
  Outcome,
  PlanDiff,
  PlanSummary,
  RemainingCascade,
  RerouteRequest,
  ScoredModel,
  SolveAnswer,
  SolveEvent,
} from "@/server/contracts/studio";
import type { AnswerScoresRequest, JustInTimeRequest } from "@/server/contracts/studio/declaredWorkflows";
import type { ConnectedCluster } from "@/server/fleet/fleet";
import type { RequestOptions } from "@/server/planning/planner/planningRequest";
import { readPlan } from "@/server/planning/planner/readPlan";
import { withProgress } from "@/server/planning/planner/withProgress";
import type { Planning } from "@/server/planning/planningService";
import { rateNow } from "@/server/planning/rateNow";
import { justInTimeRouting, scoredAnswers } from "@/server/planning/workflows/justInTimeRouting";
import { missingForConfidence } from "@/server/prediction/missingForConfidence";
import type { ClusterRow } from "@/server/store/clusterRepository";
import type { Store } from "@/server/store/store";
import { loadWorkload } from "@/server/workloads/storedWorkloads";
import { inFlightLimit } from "@/solver/plan/inFlightLimit";
import type { Plan } from "@/solver/plan/plan";
import { isPredicted, type JustInTimePolicy, modelsOf, roundChoices, singleStagesOf, thresholdsOf } from "@/solver/plan/policySchema";
import type { Workload } from "@/solver/workload/workload";
import type { Actor } from "../base/actor";
import { auditedRefusal } from "../base/auditedRefusal";
import type { ApproveRequest, RemainingRequest } from "../base/inputs";
import { predictorRefusal } from "./predictorRefusal";
import { reroutePlan } from "./reroutePlan";
import { createRollOutPreview, type RollOutPreviewParts } from "./rollOutPreview";

export interface PlanServiceOptions {
  readonly store: Store;
  readonly clusterOf: RollOutPreviewParts["clusterOf"];
  readonly planning: Planning;
}

/** Who saves or approves a plan: the person, or the one who made the API token; null: the studio itself. */
type PersonId = Caller["userId"] | null;

interface Keeping {
  readonly actor: Actor;
  readonly personId: PersonId;
  /** Its audit line's action. */
  readonly how: string;
  /** Why its figures are only claimed; null: they are this studio's own. */
  readonly claimed: string | null;
}

type Rerouting = RerouteRequest & { readonly notes?: readonly string[] };

/** Solved plans that are not saved are dropped beyond this number: about 10 kB each. */
const rememberedPlans = 200;

export type PlanService = ReturnType<typeof createPlanService>;

/** Plans: found by the planner, saved, compared with the running one, approved, imported. */
export function createPlanService({ store, clusterOf, planning }: PlanServiceOptions) {
  const solved = new Map<string, Plan>();
  const note = store.audit.noting("plan");
  // The last question first: the same plan may answer another question than the one it was saved for.
  const known = (id: string): Plan | null => solved.get(id) ?? store.plans.get(id);
  const runs = (id: string): boolean => store.clusters.list().some((cluster) => cluster.runningPlanId === id);

  const aboutPlan = (id: string, clusterId: string | null) => ({ subject: id, objectKind: "plan", objectId: id, clusterId }) as const;

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
    // A plan for a mix has figures of its own policy.
    const figures =
      isPredicted(policy) || predictions.mix !== undefined ? predictions : { quality: null, p95Seconds: null, costUsdPerRequest: null };
    const approvals = store.approvals.standing(id).filter(({ clusterId }) => clusterId === inputs.cluster.id);
    const approval = approvals.findLast(({ standing }) => standing === "valid") ?? approvals.at(-1);
    return {
      id,
      name: metadata.name,
      createdAt: metadata.createdAt,
      clusterId: inputs.cluster.id,
      workloadId: inputs.workload.id,
      workloadName: inputs.workload.name,
      // The thresholds of single requests belong to the stages of their own cascade.
      stages: thresholdsOf(policy).length === 0 ? modelsOf(policy) : singleStagesOf(policy),
      thresholds: thresholdsOf(policy),
      gpus: deployment.reduce((sum, one) => sum + one.gpus, 0),
      quality: figures.quality,
      p95Seconds: figures.p95Seconds,
      costUsdPerRequest: figures.costUsdPerRequest,
      approvedBy: approval?.actor ?? null,
      approvalReason: approval?.reason ?? null,
      approvalStanding: approval?.standing ?? null,
      claimed: store.plans.claimed(id),
      running: runs(id),
    };
  }

  /** Why a plan's figures are only claimed; null: they are this studio's own, as those of each plan that it solved in this run. */
  const claimedOf = (id: string): string | null => (solved.has(id) ? null : store.plans.claimed(id));

  function keep(plan: Plan, { actor, personId, how, claimed }: Keeping): Outcome<{ readonly id: string }> {
    const kept = store.plans.get(plan.id);
    // Only ids under the rules before the present one can be equal for two plans.
    if (kept !== null && contentHash(kept) !== contentHash(plan))
      return {
        ok: false,
        message: `Plan ${plan.id.slice(0, 8)} is kept with another content already, for ${kept.inputs.workload.name} on ${kept.inputs.cluster.name}: solve it again.`,
      };
    store.atomically(() => {
      store.plans.keep(plan, { maker: personId, claimed });
      if (kept !== null) return;
      note(
        actor,
        how,
        aboutPlan(plan.id, plan.inputs.cluster.id),
        claimed === null ? plan.metadata.name : `${plan.metadata.name}; ${claimed}`,
      );
    });
    return { ok: true, id: plan.id };
  }

  /** What an approval of a plan on a cluster binds to now. */
  const hashOn = (plan: Plan, { id: clusterId, connection }: ClusterRow): string => approvalHash({ plan, clusterId, connection });

  function approve(
    { planId, clusterId, hash, reason }: ApproveRequest,
    actor: Actor,
    personId: PersonId,
  ): Outcome<{ readonly approval: Approval }> {
    const plan = known(planId);
    if (plan === null) return { ok: false, message: `There is no plan ${planId}.` };
    const cluster = store.clusters.get(clusterId);
    if (cluster === null) return { ok: false, message: `There is no cluster ${clusterId}.` };
    if (hash !== hashOn(plan, cluster))
      return { ok: false, message: "The hash is not that of this plan on this cluster: look at both again before you approve it." };
    const refusal = predictorRefusal(store, plan.policy);
    if (refusal !== null) return { ok: false, message: refusal };
    const own = ownPlanRefusal(store, planId, personId);
    if (own !== null) return { ok: false, message: own };
    const approval: Approval = { planId, clusterId, actor, at: new Date().toISOString(), reason };
    return store.atomically(() => {
      const kept = keep(plan, { actor, personId, how: "keep", claimed: claimedOf(planId) });
      if (!kept.ok) return kept;
      store.approvals.insert(approval);
      note(actor, "approve", aboutPlan(planId, clusterId), `on ${cluster.spec.name}${reason === "" ? "" : `: ${reason}`}`);
      return { ok: true, approval };
    });
  }

  async function importDocument(document: unknown, actor: Actor, personId: PersonId): Promise<Outcome<{ readonly id: string }>> {
    const read = readPlan(document);
    if (!read.ok) return read;
    const { plan } = read;
    const refusal = predictorRefusal(store, plan.policy);
    if (refusal !== null) return { ok: false, message: refusal };
    const keeping = { actor, personId, how: "import plan" } as const;
    if (store.plans.get(plan.id) !== null) return keep(plan, { ...keeping, claimed: store.plans.claimed(plan.id) });
    const recomputed = await planning.recompute(plan, {});
    return recomputed.ok
      ? keep(recomputed.plan, { ...keeping, claimed: null })
      : keep(plan, { ...keeping, claimed: `Its figures are those of whoever made it. ${recomputed.message}` });
  }

  return {
    ...createRollOutPreview({ store, clusterOf, planning, planOf: known }),
    ...createRemainingCascade({ clusterOf, planning, planOf: known }),
    /** Everything the Plan page's sliders need to choose a plan without another request, with reports of the planner's progress. */
    explore: (request: ExploreRequest, signal: AbortSignal): AsyncIterable<ExploreEvent> =>
      withProgress((asking) => planning.explore(request, asking), signal),
    /** Slack dispatch over its tau, with reports of the planner's progress; it stops when the signal aborts. */
    dispatch: (request: DispatchRequest, signal: AbortSignal): AsyncIterable<DispatchEvent> =>
      withProgress(async (asking) => {
        const answer = await planning.dispatch(request, asking);
        const missing = missingForConfidence(store, request.workloadId);
        return answer.ok && missing.length > 0 ? { ...answer, missing } : answer;
      }, signal),
    /** A plan, with reports of the planner's progress; it stops when the signal aborts. */
    solve: (request: SolveRequest, signal: AbortSignal): AsyncIterable<SolveEvent> =>
      withProgress((asking) => solve(request, asking), signal),
    /** A plan for a mix of single requests and workflows, with reports of the planner's progress; it stops when the signal aborts. */
    mix: (request: MixRequest, signal: AbortSignal): AsyncIterable<MixEvent> =>
      withProgress(async (asking) => {
        const answer = await planning.mix(request, asking);
        if (answer.ok) remember(answer.plan);
        return answer;
      }, signal),
    /** One question about the plan of a request. A repeated question is answered from the earlier result. */
    examine: planning.examine,
    /** Saves a plan that `solve` found in this run of the studio. */
    keep(planId: string, actor: Actor, personId: PersonId = null): Outcome<{ readonly id: string }> {
      const plan = known(planId);
      if (plan === null) return { ok: false, message: "This plan was solved too long ago: solve it again." };
      // The promises of a plan in force change only by an approval.
      return runs(planId) ? { ok: true, id: planId } : keep(plan, { actor, personId, how: "keep", claimed: claimedOf(planId) });
    },
    list: (clusterId: string | null): readonly PlanSummary[] => store.plans.list(clusterId).map(summary),
    get(planId: string): KeptPlan | null {
      const plan = known(planId);
      if (plan === null) return null;
      const approvalHashes = Object.fromEntries(store.clusters.list().map((cluster) => [cluster.id, hashOn(plan, cluster)]));
      const approvals = store.approvals.standing(planId);
      return { plan, summary: summary(plan), approvals, approvalHashes, maker: store.plans.maker(planId) };
    },
    async diff(planId: string, clusterId: string): Promise<Outcome<{ readonly diff: PlanDiff }>> {
      const target = known(planId);
      const connector = clusterOf(clusterId)?.connector ?? null;
      if (target === null) return { ok: false, message: `There is no plan ${planId}.` };
      if (connector === null) return { ok: false, message: "This cluster is only described: nothing runs there to compare with." };
      const observed = await connector.observe();
      if (!observed.ok) return observed;
      const unfit = planMismatch(observed.value, target);
      if (unfit !== null) return { ok: false, message: unfit };
      // Routing may be switched early: until a roll-out is finished, the plan is compared with the one it replaces.
      const replacing = store.applications.open().find((one) => one.clusterId === clusterId && one.planId === planId);
      const runningId = replacing === undefined ? observed.value.routing.planId : replacing.previousPlanId;
      const running = runningId === null ? null : store.plans.get(runningId);
      return { ok: true, diff: planDiff({ observation: observed.value, running, target, emulated: connector.emulated }) };
    },
    /** Refused for another hash than that of the plan on the cluster, and with four eyes to who made the plan. */
    approve: (request: ApproveRequest, actor: Actor, personId: PersonId = null): Outcome<{ readonly approval: Approval }> =>
      auditedRefusal(
        store,
        { actor, action: "approve", ...aboutPlan(request.planId, request.clusterId) },
        approve(request, actor, personId),
      ),
    /**
     * Saves a plan on the engines of another under another policy; its figures remain the other's, and its notes say so, before those that
     * are given.
     */
    reroute({ planId, notes, ...routing }: Rerouting, actor: Actor, personId: PersonId = null): Outcome<{ readonly id: string }> {
      const base = known(planId);
      if (base === null) return { ok: false, message: `There is no plan ${planId}.` };
      const rerouted = reroutePlan(base, routing, notes);
      if (!rerouted.ok) return rerouted;
      const refusal = predictorRefusal(store, routing.policy);
      const claimed = claimedOf(base.id);
      return refusal === null ? keep(rerouted.plan, { actor, personId, how: "reroute plan", claimed }) : { ok: false, message: refusal };
    },
    /**
     * Saves a plan on the engines of another that runs declared workflows just in time; its figures remain the other's, and its notes say
     * so.
     */
    justInTime(request: JustInTimeRequest, actor: Actor, personId: PersonId = null): Outcome<{ readonly id: string }> {
      const base = known(request.planId);
      if (base === null) return { ok: false, message: `There is no plan ${request.planId}.` };
      const made = justInTimePlan(store, base, request);
      if (!made.ok) return made;
      const refusal = predictorRefusal(store, made.plan.policy);
      const claimed = claimedOf(base.id);
      return refusal === null ? keep(made.plan, { actor, personId, how: "plan just in time", claimed }) : { ok: false, message: refusal };
    },
    /** Which agents' answers such a plan can have scored, and by what; or why none. */
    answerScores({ planId, workflows }: AnswerScoresRequest): Outcome<{ readonly scored: readonly ScoredModel[] }> {
      const base = known(planId);
      if (base === null) return { ok: false, message: `There is no plan ${planId}.` };
      const given = justInTimeGround(store, base, workflows);
      return given.ok ? scoredAnswers(base, given.workload, { workflows: given.workflows, silent: silentFor(store, base) }) : given;
    },
    /**
     * Imports a plan document: schema and hashes must be valid. Its figures are computed again where what it was made from is known here, so
     * that it may get another id; else they are kept as claimed.
     */
    importDocument: async (document: unknown, actor: Actor, personId: PersonId = null): Promise<Outcome<{ readonly id: string }>> =>
      auditedRefusal(
        store,
        { actor, action: "import plan", subject: "document", objectKind: "plan" },
        await importDocument(document, actor, personId),
      ),
  };
}

/** Why a person may not approve a plan under four eyes: the one who saved it first made it. A plan that nobody saved would be the approver's. */
function ownPlanRefusal(store: Store, planId: string, personId: PersonId = null): string | null {
  if (!store.users.fourEyes()) return null;
  if (store.plans.get(planId) === null) return "Four eyes is on: save the plan first; another person approves it.";
  return store.plans.maker(planId)?.id === personId ? "Four eyes is on: you made this plan, so another person approves it." : null;
}

/** Models whose engines on a plan's cluster are known to report no log probabilities. */
const silentFor = (store: Store, { inputs }: Plan): readonly string[] => silentModels(store, inputs.cluster.id);

/** The workload of a plan, and declared workflows in their present versions with the predictors that are named. */
function justInTimeGround(
  store: Store,
  base: Plan,
  workflows: JustInTimeRequest["workflows"],
): Outcome<{ readonly workload: Workload; readonly workflows: JustInTimePolicy["workflows"] }> {
  const { id, name: workloadName } = base.inputs.workload;
  const workload = loadWorkload(store, id);
  if (workload === null)
    return {
      ok: false,
      message: `The plan was made from ${workloadName}, which is not kept any more, so request lengths are unknown.`,
    };
  const named: JustInTimePolicy["workflows"] = [];
  for (const { name: workflowName, predictor } of workflows) {
    const found = store.declaredWorkflows.find(workflowName);
    if (found === null) return { ok: false, message: `There is no declared workflow ${workflowName}.` };
    named.push({ workflow: found.document, ...(predictor === null ? {} : { predictor }) });
  }
  return { ok: true, workload, workflows: named };
}

/**
 * A plan on the engines of another that runs declared workflows just in time, in their present versions: the plan has its own copy of them.
 * Its figures remain those of the other, and its notes say so.
 */
function justInTimePlan(
  store: Store,
  base: Plan,
  { workflows, selection, width = roundChoices.beam.width, answerScores = false, name }: JustInTimeRequest,
): Outcome<{ readonly plan: Plan }> {
  const given = justInTimeGround(store, base, workflows);
  if (!given.ok) return given;
  const routed = justInTimeRouting(base, given.workload, {
    ...{ workflows: given.workflows, selection: selection ?? { kind: "beam", width } },
    ...(answerScores && { answerScores: { silent: silentFor(store, base) } }),
  });
  return routed.ok ? reroutePlan(base, { policy: routed.policy, name }, routed.notes) : routed;
}

interface RemainingCascadeParts {
  readonly clusterOf: (clusterId: string) => Pick<ConnectedCluster, "collector"> | null;
  readonly planning: Pick<Planning, "serve">;
  /** A plan that is saved, or was solved recently. */
  readonly planOf: (planId: string) => Plan | null;
}

/** Predicts a cascade without the lost stages: the plan's policy simulated on the remaining engines, as plans are. */
function createRemainingCascade({ clusterOf, planning, planOf }: RemainingCascadeParts) {
  return {
    /** The prediction for the plan's cascade without the lost models, with that for the whole cascade; it stops when the signal aborts. */
    async remaining(
      { planId, clusterId, lost, lowerMayAnswer }: RemainingRequest,
      signal: AbortSignal,
    ): Promise<Outcome<{ readonly remaining: RemainingCascade }>> {
      const plan = planOf(planId);
      if (plan === null) return { ok: false, message: `There is no plan ${planId}.` };
      const collector = clusterOf(clusterId)?.collector() ?? null;
      const routing = collector?.routing() ?? null;
      // Its thresholds may have been changed since the plan was put into force.
      const policy = routing?.planId === planId ? routing.policy : plan.policy;
      if (policy.kind !== "cascade" && policy.kind !== "slack")
        return { ok: false, message: `Only cascades and slack dispatch are simulated, not ${policy.kind}.` };
      const limits = new Map(plannedLimits(plan));
      const engines = targetEngines(plan).map(({ id, model, gpu, tp, pp }) => {
        return { model, gpu, tp, pp, maxInFlight: limits.get(id) ?? inFlightLimit({}) };
      });
      const left = engines.filter(({ model }) => !lost.includes(model));
      const { requestsPerSecond, basis } = rateNow(collector, plan);
      const servings = [
        { policy, engines },
        { policy, engines: left, lost: { lowerMayAnswer } },
      ];
      const served = await planning.serve(plan, { servings, requestsPerSecond }, signal);
      if (!served.ok) return served;
      const [whole, remaining] = served.figures;
      if (whole === undefined || remaining === undefined) throw new Error("The planner left figures out.");
      return { ok: true, remaining: { requestsPerSecond, basis, whole, remaining } };
    },
  };
}
