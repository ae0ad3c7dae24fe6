import { profileForCluster } from "@/server/calibration/profileInUse";
import type { CardStore } from "@/server/cards/cardStore";
import type { DispatchRequest, ExamineRequest, ExploreRequest, SolveRequest } from "@/server/contracts/planRequest";
import type {
  DispatchAnswer,
  Examination,
  ExamineEvent,
  ExploreAnswer,
  MixPlanAnswer,
  MixRequest,
  Outcome,
  SolveAnswer,
} from "@/server/contracts/studio";
import { type FixedTopologyRequest, fixedTopology } from "@/server/endpoints/fixedTopology";
import { readConnection } from "@/server/fleet/connection";
import { atWorkload } from "@/server/judges/atWorkload";
import { createJudgeMonitor, type JudgeMonitor } from "@/server/judges/judgeMonitor";
import { asItRuns, type PredictedAsItRuns, predictedAsItRuns } from "@/server/planning/planner/asItRuns";
import { highestPlannedRate, type Planner } from "@/server/planning/planner/planner";
import type { RequestOptions } from "@/server/planning/planner/planningRequest";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { dispatchSituation, plannedJudgeEngine, situationOf } from "@/server/planning/planner/situationOf";
import type { ClusterRow } from "@/server/store/clusterRepository";
import type { Store } from "@/server/store/store";
import { loadWorkload } from "@/server/workloads/storedWorkloads";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import type { Serving, ServingFigures } from "@/solver/cascade/whatIf/servingFigures";
import { cardOf } from "@/solver/hardware/catalogue";
import { gpuTypes } from "@/solver/plan/clusterGpus";
import type { RunningReplica } from "@/solver/plan/clusterSpec";
import type { CascadePolicy, Plan } from "@/solver/plan/plan";
import { confidencePredictorOf, GAIN_NOT_REPEATED, isByThresholds, type SlackPolicy } from "@/solver/plan/policySchema";
import { runningReplicas } from "@/solver/plan/runningReplicas";
import type { Workload } from "@/solver/workload/workload";
import type { MixAsked } from "./mix/mixTask";
import { planMixInThread } from "./mix/mixThread";
import { confidencePart, type ScoredWorkload, withTrainedConfidence } from "./planner/trainedConfidence";
import { withProgress } from "./planner/withProgress";

/** Workloads kept unpacked between the requests of a slider; each has some megabytes. */
const unpackedWorkloads = 3;

/** Stored examinations, so that opening one again costs nothing: some kB each. */
const keptExaminations = 60;

/** Stored figures of engines under a policy, so that a repeated dip costs nothing. */
const keptFigures = 500;

/** The running replicas, for plans that change as few of them as possible; absent: the cluster's own if changes are limited, else none. */
interface WithRunning {
  readonly running?: readonly RunningReplica[];
}

/** The planner's answers to requests that name objects of the store. */
export interface Planning {
  explore(request: ExploreRequest, asking: RequestOptions): Promise<ExploreAnswer>;
  /** Slack dispatch over its tau in a situation. */
  dispatch(request: DispatchRequest, asking: RequestOptions): Promise<DispatchAnswer>;
  solve(request: SolveRequest & WithRunning, asking: RequestOptions): Promise<SolveAnswer>;
  /** The prediction for a plan in its running form, its replicas and thresholds, in a situation. */
  predict(plan: Plan, request: ExploreRequest, asking: RequestOptions): Promise<PredictedAsItRuns>;
  /**
   * A plan that was made elsewhere with the figures that this studio computes for it: its policy on its replicas, under its own rate, with the
   * workload, cluster, cards and engine profile that are known here. Refused if one of them is not known, or nothing predicts the policy.
   */
  recompute(plan: Plan, asking: RequestOptions): Promise<Outcome<{ readonly plan: Plan }>>;
  /** Engines and policy for a mix of single requests and declared workflows, and the same mix on what runs. Refused if one is not known. */
  mix(request: MixRequest, asking: RequestOptions): Promise<MixPlanAnswer>;
  examine(request: ExamineRequest, signal: AbortSignal): AsyncGenerator<ExamineEvent, void>;
  /**
   * The behaviour of a saved plan's policy on some engines at a rate, simulated with the plan's own inputs. Refused if its workload is not
   * stored.
   */
  serve(
    plan: Plan,
    asked: { readonly servings: readonly Serving[]; readonly requestsPerSecond: number },
    signal: AbortSignal,
  ): Promise<Outcome<{ readonly figures: readonly ServingFigures[] }>>;
}

/** The planner over the store: ids in, explorations and plans out. `judges` absent: only stored judge times are used. */
export function createPlanningService(
  store: Store,
  planner: Planner,
  cards: CardStore,
  judges: Pick<JudgeMonitor, "planned"> = createJudgeMonitor({ store, clusterOf: () => null }),
): Planning {
  const unpacked = new Map<string, Workload>();
  const examined = new Map<string, Examination>();
  const served = new Map<string, ServingFigures>();

  function workloadOf(id: string): Workload | null {
    const workload = unpacked.get(id) ?? loadWorkload(store, id);
    if (workload === null) return null;
    unpacked.delete(id);
    unpacked.set(id, workload);
    const oldest = unpacked.keys().next().value;
    if (unpacked.size > unpackedWorkloads && oldest !== undefined) unpacked.delete(oldest);
    return workload;
  }

  function keep(key: string, examination: Examination): void {
    examined.set(key, examination);
    const oldest = examined.keys().next().value;
    if (examined.size > keptExaminations && oldest !== undefined) examined.delete(oldest);
  }

  async function serve(...[plan, { servings, requestsPerSecond }, signal]: Parameters<Planning["serve"]>): ReturnType<Planning["serve"]> {
    const { policy, inputs } = plan;
    if (policy.kind !== "cascade" && policy.kind !== "slack")
      return { ok: false, message: `Only cascades and slack dispatch are simulated, not ${policy.kind}.` };
    const workload = workloadOf(inputs.workload.id);
    if (workload === null)
      return { ok: false, message: `The workload of ${plan.metadata.name} is not kept here, so that nothing can be simulated with it.` };
    const confidence = confidenceOf(policy, workload);
    if (!confidence.ok) return confidence;
    const { scored } = confidence;
    const planned = policy.kind === "cascade" ? situationOf({ policy, inputs }, scored.workload) : dispatchSituation(inputs, scored);
    const situation = { ...planned, requestsPerSecond };
    const { workload: _, ...asked } = situation;
    const keyOf = (serving: Serving): string => JSON.stringify([asked, serving]);
    const missing = servings.filter((serving) => !served.has(keyOf(serving)));
    if (missing.length > 0) {
      const answer = await planner.serve(situation, missing, { signal });
      if (!answer.ok) return answer;
      for (const [index, serving] of missing.entries()) {
        const own = answer.figures[index];
        if (own !== undefined) served.set(keyOf(serving), own);
      }
    }
    const found = servings.flatMap((serving) => served.get(keyOf(serving)) ?? []);
    for (const key of [...served.keys()].slice(0, Math.max(0, served.size - keptFigures))) served.delete(key);
    return { ok: true, figures: found };
  }

  /** The workload with the scores of the predictor that a policy names; refused where these are not kept. */
  function confidenceOf(
    policy: CascadePolicy | SlackPolicy,
    workload: Workload,
  ): Outcome<{ readonly scored: Pick<ScoredWorkload, "workload"> & Partial<ScoredWorkload> }> {
    const predictor = confidencePredictorOf(policy);
    if (predictor === undefined) return { ok: true, scored: { workload } };
    const scored = withTrainedConfidence(store, workload, predictor);
    if (scored !== null) return { ok: true, scored };
    const named = predictor.slice(0, 8);
    return { ok: false, message: `The scores of the predictor ${named}, which the policy reads, are not kept here: train it again.` };
  }

  function running(clusterId: string): readonly RunningReplica[] {
    const planId = store.clusters.get(clusterId)?.runningPlanId ?? null;
    const plan = planId === null ? null : store.plans.get(planId);
    return plan === null ? [] : runningReplicas(plan);
  }

  /** @param confidence whether slack dispatch or a baseline reads the scores of a trained predictor, if there is one. */
  function situation(
    request: ExploreRequest & WithRunning,
    { confidence }: { readonly confidence: boolean },
  ): Outcome<{ readonly situation: PlanningSituation; readonly notes: readonly string[] }> {
    const { workloadId, clusterId, requestsPerSecond, constraints, directStart } = request;
    const row = store.clusters.get(clusterId);
    if (row === null) return { ok: false, message: `There is no cluster ${clusterId}.` };
    const cluster = row.spec;
    const workload = store.workloads.summary(workloadId) === null ? null : workloadOf(workloadId);
    if (workload === null) return { ok: false, message: `There is no workload ${workloadId}.` };
    const { userCards, catalogue, problem } = cards.read();
    const judge = judgeFor(request.judge, { clusterId, workload });
    const models = workload.outcomes.models.map(({ model }) => model);
    const given = givenBy(row, { cluster, userCards, models, constraints, judge });
    if (given !== null && !given.ok) return given;
    const missing =
      (given?.part.models ?? models).find((model) => cardOf(catalogue.models, model) === undefined) ??
      gpuTypes(cluster).find((type) => cardOf(catalogue.gpus, type) === undefined);
    if (missing !== undefined) return { ok: false, message: `There is no card of ${missing}. ${problem ?? "Add it under Cards."}` };
    const limited = (constraints?.maxChangedReplicas ?? null) !== null;
    const asked = {
      ...(constraints === undefined ? {} : { constraints }),
      judge,
      // The running replicas affect a plan only if changes are limited.
      ...(request.running !== undefined ? { running: request.running } : limited ? { running: running(clusterId) } : {}),
    };
    const engineProfile = profileForCluster(store, clusterId);
    const trained = confidencePart(store, workload, { directStart, confidence });
    if (!trained.ok) return trained;
    const whole = { workload, workloadId, cluster, userCards, engineProfile, requestsPerSecond, ...asked, ...trained.part };
    return { ok: true, situation: { ...whole, ...given?.part }, notes: [...(given?.notes ?? []), ...trained.notes] };
  }

  /** The planner's request for a plan in its running form, its replicas and thresholds, in a situation; refused if nothing predicts it. */
  function runningRequest(plan: Plan, request: ExploreRequest): Outcome<{ readonly request: ReturnType<typeof asItRuns> }> {
    const { policy } = plan;
    if (policy.kind !== "cascade" && policy.kind !== "slack")
      return { ok: false, message: `Only cascades and slack dispatch are simulated, and this policy is ${policy.kind}.` };
    if (policy.kind === "cascade" && !isByThresholds(policy)) return { ok: false, message: GAIN_NOT_REPEATED };
    const found = situation(request, { confidence: false });
    if (!found.ok) return found;
    if (policy.kind === "cascade") return { ok: true, request: asItRuns(found.situation, { ...plan, policy }) };
    const confidence = confidenceOf(policy, found.situation.workload);
    if (!confidence.ok) return confidence;
    const { workload, artefact } = confidence.scored;
    const asked = { ...found.situation, workload, ...(artefact === undefined ? {} : { confidence: { artefact } }) };
    return { ok: true, request: asItRuns(asked, { ...plan, policy }) };
  }

  function versionOf(workloadId: string): { readonly workloadVersion?: number } {
    const version = store.workloads.summary(workloadId)?.version;
    return version === undefined ? {} : { workloadVersion: version };
  }

  /** The requested judge; if it is none of the plan's engines, with its known time for the cluster unless one is given. */
  function judgeFor(
    judge: ExploreRequest["judge"],
    { clusterId, workload }: { readonly clusterId: string; readonly workload: Workload },
  ): NonNullable<PlanningSituation["judge"]> {
    if (judge?.kind === "engine") return judge;
    const known = judges.planned(clusterId);
    const { secondsPerCall } = judge ?? known;
    return atWorkload(judge === undefined ? known : { ...known, secondsPerCall, source: { kind: "entered" } }, workload);
  }

  /** The settings that follow from externally run engines; null if plans decide what runs. */
  function givenBy({ spec, connection }: ClusterRow, request: FixedTopologyRequest): ReturnType<typeof fixedTopology> | null {
    if (spec.kind !== "endpoints") return null;
    const read = readConnection(connection);
    if (!read.ok) return read;
    return read.value.kind === "endpoints" ? fixedTopology(read.value, request) : null;
  }

  return {
    serve,
    async explore({ around = null, gateChoice, ...request }, asking) {
      const found = situation(request, { confidence: false });
      if (!found.ok) return found;
      const answer = await planner.explore({ ...found.situation, around, gateChoice }, asking);
      return answer.ok ? { ...answer, ...noted(found.notes) } : answer;
    },
    async dispatch(request, asking) {
      const found = situation(request, { confidence: true });
      if (!found.ok) return { ...found, kind: "infeasible" };
      const answer = await planner.dispatch(found.situation, asking);
      return answer.ok ? { ...answer, ...noted(found.notes) } : answer;
    },
    async solve({ objective, fixed, policy, tau, gateChoice, rateChoice, ...request }, asking) {
      const found = situation(request, { confidence: readsConfidence(policy) });
      if (!found.ok)
        return { outcome: "infeasible", kind: "malformed", reason: found.message, bestQuality: null, bestLatencySeconds: null };
      const asked = { ...found.situation, ...versionOf(request.workloadId), objective, fixed, policy, tau, gateChoice };
      const answer = await (rateChoice === "highest"
        ? highestPlannedRate((rate, own) => planner.solve({ ...asked, requestsPerSecond: rate }, own), asked, asking)
        : planner.solve(asked, asking));
      return answer.outcome === "plan" ? { ...answer, ...noted(found.notes) } : answer;
    },
    async predict(plan, request, asking) {
      const asked = runningRequest(plan, request);
      return asked.ok ? predictedAsItRuns(await planner.solve(asked.request, asking)) : { kind: "not-evaluated", because: asked.message };
    },
    async recompute(plan, asking) {
      const { workload, cluster, directStart } = plan.inputs;
      const judge = plannedJudgeEngine(plan);
      const asked = runningRequest(plan, {
        ...{ workloadId: workload.id, clusterId: cluster.id, requestsPerSecond: workload.requestsPerSecond },
        ...(judge === undefined ? {} : { judge: { kind: "engine", ...judge } }),
        ...(directStart === undefined ? {} : { directStart }),
      });
      if (!asked.ok) return asked;
      const answer = await planner.solve({ ...asked.request, ...versionOf(workload.id) }, asking);
      if (answer.outcome === "infeasible") return { ok: false, message: answer.reason };
      const { inputs, predictions, solver } = answer.plan;
      const known = {
        workload: inputs.workload,
        cluster: inputs.cluster,
        userCards: inputs.userCards,
        engineProfile: inputs.engineProfile,
        judgeTime: inputs.judgeTime,
      };
      const recomputed = { ...plan, inputs: { ...plan.inputs, ...known }, predictions, solver };
      return { ok: true, plan: sealPlan(recomputed, new Date(plan.metadata.createdAt)) };
    },
    async mix({ clusterId, workloadId, singles, workflows, selection }, { signal = new AbortController().signal, onProgress }) {
      const found = situation({ clusterId, workloadId, requestsPerSecond: 1, running: running(clusterId) }, { confidence: false });
      if (!found.ok) return { ok: false, kind: "malformed", message: found.message };
      const named: MixAsked["workflows"][number][] = [];
      for (const { name, predictor, ...own } of workflows) {
        const declared = store.declaredWorkflows.find(name);
        if (declared === null) return { ok: false, kind: "malformed", message: `There is no declared workflow ${name}.` };
        named.push({ ...own, workflow: declared.document, ...(predictor === null ? {} : { predictor }) });
      }
      const { requestsPerSecond: _, ...asked } = found.situation;
      return planMixInThread(
        { situation: asked, mix: { singles, workflows: named, selection }, ...versionOf(workloadId) },
        { signal, onPhase: (phase) => onProgress?.({ phase: mixPhases[phase], done: 0, of: null }) },
      );
    },
    async *examine({ objective, fixed, policy, tau, gateChoice, examine, ...request }, signal) {
      const found = situation(request, { confidence: readsConfidence(policy) || examine === "baselines" });
      if (!found.ok) return yield { kind: "refused", message: found.message };
      const { workload: _, judge, ...asked } = found.situation;
      // The source of the judge's time does not affect an examination.
      const key = JSON.stringify([asked, { ...judge, source: null }, objective, fixed, policy, tau, gateChoice, examine]);
      const known = examined.get(key);
      if (known !== undefined) return yield { kind: "answer", examination: known };
      const asking = (own: RequestOptions) =>
        planner.examine({ ...found.situation, objective, fixed, policy, tau, gateChoice, examine }, own);
      for await (const event of withProgress(asking, signal)) {
        if (event.kind === "progress") yield event;
        else if (!event.answer.ok) yield { kind: "refused", message: event.answer.message };
        else {
          keep(key, event.answer.examination);
          yield { kind: "answer", examination: event.answer.examination };
        }
      }
    },
  };
}

/** What a plan for a mix is doing, as planning says it. */
const mixPhases = { candidates: "comparing", engines: "deploying", simulation: "simulating" } as const;

/** Whether a kind of policies reads a trained predictor of confidence where there is one: slack dispatch and cascade routing. */
const readsConfidence = (policy: SolveRequest["policy"]): boolean => policy === "slack" || policy === "cascade-routing" || policy === "any";

const noted = (notes: readonly string[]): { readonly notes?: readonly string[] } => (notes.length === 0 ? {} : { notes });
