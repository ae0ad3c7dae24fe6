import type { ClusterReplica } from "@/solver/cluster/clusterEngines";
import type { ClusterOutcome } from "@/solver/cluster/clusterOutcome";
import { simulateCluster } from "@/solver/cluster/simulateCluster";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import type { ReplicaRequests } from "@/solver/engine/replicaOutcome";
import { saturationRate } from "@/solver/engine/saturation";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import { limitsOfModel, withLimits } from "@/solver/hardware/engineLimits";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import { memoryFit } from "@/solver/hardware/memoryFit";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { mean, quantile } from "@/solver/numeric/quantile";
import { mixSeed } from "@/solver/numeric/random";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import { shortestStart, startScores } from "@/solver/plan/directStart";
import type { CascadePolicy } from "@/solver/plan/plan";
import { gatePeersOf, gatesByModel, judgeEngineOf, modelsOf, type SlackPolicy } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { Outage } from "@/solver/policies/core/policy";
import { gateRefusalText, isRefused } from "@/solver/stageGates/gateRefusal";
import { asksJudgeOn, type StageGates, stageGatesOf, withGateScores } from "@/solver/stageGates/stageGate";
import { drawSample } from "@/solver/workload/sample";
import { splitPrompts } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";
import { simulatedRequests, WARM_UP_SHARE } from "../deploy/wholeSimulation";
import { routeByPolicy } from "../routing/gainRouting";
import { planningSample, promptsReaching, promptsScored, type Routed, stageCallsPerRequest } from "../routing/routing";
import { judgedVisits } from "../tables/judgeTables";

/** An engine that takes requests. */
export interface ServingEngine {
  readonly model: string;
  readonly gpu: string;
  readonly tp: number;
  readonly pp: number;
  /** Maximum number of requests at once. */
  readonly maxInFlight: number;
}

/** A policy with the engines that it currently uses, which may be fewer than its plan has. */
export interface Serving {
  readonly policy: CascadePolicy | SlackPolicy;
  readonly engines: readonly ServingEngine[];
  /** Set where nothing waits for the models without engines: a cascade skips their stages. Slack dispatch always does. */
  readonly lost?: Pick<Outage, "lowerMayAnswer">;
}

/** A cascade as it serves. */
type CascadeServing = Serving & { readonly policy: CascadePolicy };

export interface ServingTraffic {
  /** With router scores where the policy starts requests by them. */
  readonly workload: Workload;
  readonly requestsPerSecond: number;
  readonly cards: CardCatalogue;
  readonly profile: EngineProfile;
  /** Limits of the cluster's engines, where they are known. */
  readonly engineLimits?: ClusterSpec["engineLimits"];
  /** Prompts of the requests; left out: those for planning. */
  readonly part?: "planning" | "heldOut";
}

export interface ServingFigures {
  /** Models that requests reach and that no engine serves; a judge is not included. */
  readonly unserved: readonly string[];
  /**
   * Requests per second at which the busiest model's engines always have work, of slack dispatch at which all engines have; null where a
   * model is unserved.
   */
  readonly capacityPerSecond: number | null;
  /** End to end, simulated whole; null where a model is unserved or does not sustain its load. */
  readonly p95Seconds: number | null;
  /** Mean label of the answers, 0..100, from the same simulation; null where `p95Seconds` is. */
  readonly quality: number | null;
  /**
   * Share of requests that reach each stage of a cascade, or that each model of slack dispatch answers, in the policy's order; empty where
   * `p95Seconds` is null.
   */
  readonly share: readonly number[];
  /**
   * Share of requests that are refused because only a smaller model than the policy requires could answer; 0 where `p95Seconds` is null.
   */
  readonly refusedShare: number;
  /** The longest that a request was at each model, queueing included; 0 where nothing was simulated. */
  readonly longestSeconds: Readonly<Record<string, number>>;
}

/** Why there are no figures of a policy on engines, in one sentence; null where there are. */
export function servingRefusal(
  { workload, cards }: Pick<ServingTraffic, "workload" | "cards">,
  { policy, engines }: Serving,
): string | null {
  const unknown = modelsOf(policy).find((model) => workload.outcomes.models.every((own) => own.model !== model));
  if (unknown !== undefined) return `The workload ${workload.name} has no answers of ${unknown}.`;
  const gates = policy.kind === "cascade" ? stageGatesOf(workload, gatesByModel(policy)) : null;
  if (gates !== null && isRefused(gates)) return gateRefusalText(gates);
  for (const { model, gpu, tp, pp } of engines) {
    const [card, type] = [cardOf(cards.models, model), cardOf(cards.gpus, gpu)];
    if (card === undefined || type === undefined) return `There is no card of ${card === undefined ? model : gpu}.`;
    const fit = memoryFit(card, type, { tp, pp });
    if (!fit.fits) return `${model} with tp ${tp} and pp ${pp} does not fit ${gpu} by its card: ${fit.reason}`;
  }
  return null;
}

/** Requests of a run at saturation: several times the largest batch. */
const SATURATION_REQUESTS = 900;

/**
 * The rate that engines sustain under a policy and the latencies there: simulated as for a plan, on the same requests, so that
 * all engines of a plan at its rate give its predictions. Without an engine that judges, answers are accepted as in the gateway.
 *
 * @returns figures for one serving after another, with a shared cache.
 * @throws where `servingRefusal` has a reason.
 */
export function servingFiguresOf({
  workload,
  requestsPerSecond,
  cards,
  profile,
  engineLimits,
  part = "planning",
}: ServingTraffic): (serving: Serving) => ServingFigures {
  const rates = new Map<string, number>();
  const planning = splitPrompts(workload.outcomes.promptIds.length, workload.seed)[part];
  const requests = simulatedRequests(workload);
  const seed = mixSeed(workload.seed, "planning");
  const sample = drawSample(workload, { part, requestsPerSecond, requests, seed });

  function modelled({ model, gpu, tp, pp }: ServingEngine): ReplicaModel {
    const [card, type] = [cardOf(cards.models, model), cardOf(cards.gpus, gpu)];
    if (card === undefined || type === undefined) throw new Error(`no card of ${card === undefined ? model : gpu}`);
    const fit = replicaModel(card, type, { tp, pp }, profile);
    if (!fit.fits) throw new Error(fit.reason);
    return withLimits(fit.replica, limitsOfModel(engineLimits, model));
  }

  function replicasOf(engines: readonly ServingEngine[]): ClusterReplica[] {
    return engines.map((engine, index) => {
      const { model, maxInFlight } = engine;
      return { id: `${model} ${index}`, model, replica: modelled(engine), maxInFlight };
    });
  }

  /** Rate at which engines finish such requests when they always have work. */
  function saturation(engines: readonly ServingEngine[], work: ReplicaRequests, mix: string): number {
    return engines.reduce((sum, engine) => {
      const { model, gpu, tp, pp } = engine;
      const key = JSON.stringify([mix, model, gpu, tp, pp]);
      const rate = rates.get(key) ?? saturationRate(modelled(engine), work, SATURATION_REQUESTS) ?? 0;
      rates.set(key, rate);
      return sum + rate;
    }, 0);
  }

  /** Slack dispatch evens out loads, so all engines have work before any queue grows without bound. */
  function dispatchCapacity({ models }: SlackPolicy, engines: readonly ServingEngine[]): number {
    const names = models.map(({ model }) => model);
    const table = planningSample(workload.outcomes, planning, names);
    const all = Int32Array.from({ length: table.prompts }, (_, prompt) => prompt);
    return names.reduce((sum, model, index) => {
      const work = repeated(all, (prompt) => ({
        inputTokens: table.inputTokens[prompt] ?? 0,
        outputTokens: table.outputTokens[index]?.[prompt] ?? 0,
      }));
      const own = engines.filter((engine) => engine.model === model);
      return work === null ? sum : sum + saturation(own, work, `dispatch ${model}`);
    }, 0);
  }

  function capacityOf({ policy, engines }: CascadeServing): number {
    const models = policy.stages.map(({ model }) => model);
    const gates = gatesIn(policy);
    const scored = planningSample(withGateScores(workload, gates), planning, models);
    const table = policy.gates === undefined ? scored : { ...scored, asksJudge: asksJudgeOn(gates, models, planning) };
    const routed = routeByPolicy(table, policy);
    const mix = JSON.stringify([models, policy.thresholds, policy.directStart?.below, policy.gates, policy.cascadeRouting]);
    const of = (model: string) => engines.filter((engine) => engine.model === model);
    const stages = models.map((model, stage) => {
      const work = repeated(promptsReaching(routed, stage), (prompt) => ({
        inputTokens: table.inputTokens[prompt] ?? 0,
        outputTokens: table.outputTokens[stage]?.[prompt] ?? 0,
      }));
      const calls = stageCallsPerRequest(routed, stage, gates.get(model)?.samples ?? 0);
      return work === null ? Number.POSITIVE_INFINITY : saturation(of(model), work, `${mix} ${stage}`) / calls;
    });
    return Math.min(...stages, ...gatePeersOf(policy).map(peerCapacity), judgeCapacity(policy, routed, mix));

    /** A peer without engines is not waited for. */
    function peerCapacity(peer: string): number {
      const tokens = workload.outcomes.models.find(({ model }) => model === peer)?.outputTokens;
      const asking = models.flatMap((model, stage) => (routed.judged[stage] && gates.get(model)?.peers.includes(peer) ? [stage] : []));
      const calls = asking.flatMap((stage) => [...promptsScored(routed, stage)]);
      const work = repeated(Int32Array.from(calls), (prompt) => ({
        inputTokens: table.inputTokens[prompt] ?? 0,
        outputTokens: tokens?.[planning[prompt] ?? 0] ?? 0,
      }));
      if (work === null || of(peer).length === 0) return Number.POSITIVE_INFINITY;
      return saturation(of(peer), work, `${mix} ${peer}`) / (calls.length / table.prompts);
    }

    function judgeCapacity({ judge }: CascadePolicy, routes: Routed, mixed: string): number {
      const judging = judgeEngineOf(policy);
      if (judging === null || judge.engine === undefined) return Number.POSITIVE_INFINITY;
      const { rubricTokens, outputTokens } = judge.engine;
      const calls = judgedVisits({ stages: models.map((_, stage) => stage), routed: routes }, table).flatMap(({ model, prompts }) =>
        Array.from(prompts, (prompt) => (table.inputTokens[prompt] ?? 0) + (table.outputTokens[model]?.[prompt] ?? 0)),
      );
      const work = repeated(Int32Array.from(calls), (answered) => ({ inputTokens: answered + rubricTokens, outputTokens }));
      return work === null ? Number.POSITIVE_INFINITY : saturation(of(judging), work, `${mixed} judge`) / (calls.length / table.prompts);
    }
  }

  function gatesIn(policy: CascadePolicy): StageGates {
    const gates = stageGatesOf(workload, gatesByModel(policy));
    if (isRefused(gates)) throw new Error(gateRefusalText(gates));
    return gates;
  }

  /** The figures of a simulated run; nothing but its capacity where the load is not sustained. */
  function settled(outcome: ClusterOutcome, models: readonly string[], run: Run): ServingFigures {
    const { capacityPerSecond, refuses } = run;
    const from = Math.floor(WARM_UP_SHARE * requests);
    const latencies = outcome.endToEndSeconds.subarray(from).filter((seconds) => !refuses || seconds !== Number.POSITIVE_INFINITY);
    const labels = outcome.quality.subarray(from).filter((label) => !Number.isNaN(label));
    const keepsUp = (refuses || outcome.unserved === 0) && latencies.length > 0 && capacityPerSecond > requestsPerSecond;
    const longest = (seconds: Float64Array): number => seconds.reduce((most, one) => Math.max(most, one), 0);
    const shareOf = (model: string): number => outcome.stages.find((stage) => stage.model === model)?.share ?? 0;
    return {
      unserved: run.unserved,
      capacityPerSecond,
      p95Seconds: keepsUp ? quantile(latencies, 0.95) : null,
      quality: keepsUp ? mean(labels) : null,
      share: keepsUp ? models.map(shareOf) : [],
      refusedShare: keepsUp ? outcome.unserved / requests : 0,
      longestSeconds: Object.fromEntries(outcome.stages.map((stage) => [stage.model, longest(stage.latencySeconds)])),
    };
  }

  function dispatchFigures(policy: SlackPolicy, engines: readonly ServingEngine[]): ServingFigures {
    const models = modelsOf(policy);
    const unserved = models.filter((model) => engines.every((engine) => engine.model !== model));
    if (unserved.length === models.length) return { ...NO_FIGURES, unserved };
    const outcome = simulateCluster({
      ...{ policy: buildPolicy(policy), sample, outcomes: workload.outcomes, judgeSeconds: 0 },
      replicas: replicasOf(engines.filter(({ model }) => models.includes(model))),
    });
    return settled(outcome, models, { unserved, capacityPerSecond: dispatchCapacity(policy, engines), refuses: false });
  }

  function cascadeFigures(asked: CascadeServing): ServingFigures {
    const serving = withoutItsJudge(asked);
    const { policy, engines, lost } = serving;
    const models = policy.stages.map(({ model }) => model);
    const unserved = models.filter((model) => engines.every((engine) => engine.model !== model));
    if (unserved.length > 0 && (lost === undefined || unserved.length === models.length)) return { ...NO_FIGURES, unserved };
    const capacityPerSecond = capacityOf(withoutLostStages(serving));
    const judging = judgeEngineOf(policy);
    const peers = gatePeersOf(policy);
    const outcome = simulateCluster({
      policy: buildPolicy(policy),
      replicas: replicasOf(engines.filter(({ model }) => models.includes(model))),
      ...(policy.gates === undefined
        ? {}
        : { gates: gatesIn(policy), peerReplicas: replicasOf(engines.filter(({ model }) => peers.includes(model))) }),
      sample,
      outcomes: workload.outcomes,
      judgeSeconds: policy.judge.secondsPerCall,
      judgeVariation: policy.judge.variation,
      ...(lost === undefined ? {} : { outage: { isLost: (model: string) => unserved.includes(model), ...lost } }),
      ...(judging === null || policy.judge.engine === undefined
        ? {}
        : { judgeEngines: { ...policy.judge.engine, replicas: replicasOf(engines.filter(({ model }) => model === judging)) } }),
    });
    const refuses = lost?.lowerMayAnswer === false && unserved.length > 0;
    return settled(outcome, modelsOf(asked.policy), { unserved, capacityPerSecond, refuses });
  }

  return ({ policy, ...rest }) => (policy.kind === "slack" ? dispatchFigures(policy, rest.engines) : cascadeFigures({ ...rest, policy }));
}

/** What is known of a simulated run without its outcome. */
interface Run extends Pick<ServingFigures, "unserved"> {
  readonly capacityPerSecond: number;
  /** Whether requests that only a smaller model could answer are refused. */
  readonly refuses: boolean;
}

/** Where no request can be answered. */
const NO_FIGURES = { capacityPerSecond: null, p95Seconds: null, quality: null, share: [], refusedShare: 0, longestSeconds: {} } as const;

/**
 * A judge without an available engine is not waited for: its answers are accepted, or the last stage is used at once. Cascade routing then
 * chooses the first model as where no answer is scored.
 */
function withoutItsJudge(serving: CascadeServing): CascadeServing {
  const { policy, engines } = serving;
  const judging = judgeEngineOf(policy);
  if (judging === null || engines.some(({ model }) => model === judging)) return serving;
  const { engine: _, ...judge } = { ...policy.judge, secondsPerCall: 0 };
  const { directStart, gates: _gates, cascadeRouting, grace: _grace, ...rest } = policy;
  const stages = policy.judge.whenDown === "largest" ? policy.stages.slice(-1) : policy.stages;
  const thresholds = stages.slice(1).map(() => 0);
  const approvedRanges = { thresholds: thresholds.map((threshold) => ({ min: threshold, max: threshold })) };
  const unjudged = { ...rest, judge, stages, thresholds, approvedRanges };
  if (directStart === undefined || stages.length === 1) return { ...serving, policy: unjudged };
  const unscored = cascadeRouting && { cascadeRouting: { ...cascadeRouting, gates: cascadeRouting.gates.map(() => null) } };
  return { ...serving, policy: { ...unjudged, directStart, ...unscored } };
}

/**
 * The cascade of the stages that have engines, with the requests that the policy sends there when it skips the others. Cascade routing is
 * fitted to all stages: over fewer, requests go the way of the thresholds.
 */
function withoutLostStages(serving: CascadeServing): CascadeServing {
  const { policy, engines } = serving;
  const kept = policy.stages.flatMap(({ model }, stage) => (engines.some((engine) => engine.model === model) ? [stage] : []));
  if (kept.length === policy.stages.length) return serving;
  const stages = kept.flatMap((stage) => policy.stages[stage] ?? []);
  const thresholds = kept.slice(0, -1).map((stage) => policy.thresholds[stage] ?? 0);
  const approvedRanges = { thresholds: thresholds.map((threshold) => ({ min: threshold, max: threshold })) };
  const { directStart, gates, cascadeRouting: _cascadeRouting, grace: _grace, ...rest } = policy;
  const left = gates === undefined ? {} : { gates: kept.slice(0, -1).flatMap((stage) => gates[stage] ?? []) };
  const remaining = { ...rest, ...left, stages, thresholds, approvedRanges };
  if (directStart === undefined) return { ...serving, policy: remaining };
  const scores = startScores(directStart.below, policy.stages.length);
  const below = shortestStart(kept.slice(0, -1).map((stage) => scores[stage] ?? 0));
  if (below === 0) return { ...serving, policy: remaining };
  return { ...serving, policy: { ...remaining, directStart: { ...directStart, below: typeof below === "number" ? below : [...below] } } };
}

/** The requests of a run at saturation: the given ones repeated; null where there are none. */
function repeated(
  of: Int32Array,
  lengths: (one: number) => { readonly inputTokens: number; readonly outputTokens: number },
): ReplicaRequests | null {
  if (of.length === 0) return null;
  const all = Array.from({ length: SATURATION_REQUESTS }, (_, index) => lengths(of[index % of.length] ?? 0));
  return {
    inputTokens: Int32Array.from(all, ({ inputTokens }) => inputTokens),
    outputTokens: Int32Array.from(all, ({ outputTokens }) => outputTokens),
  };
}
