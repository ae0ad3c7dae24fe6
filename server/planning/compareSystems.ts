import { cascadeServe } from "@/solver/baselines/cascadeServe";
import { halves, tableRows } from "@/solver/baselines/halves";
import { baseSeconds, busiestLoad, drawTraffic, highestRate, measure, routedBy, type Traffic } from "@/solver/baselines/measure";
import { PROMPT_AUC, routerBeforeAnswering } from "@/solver/baselines/routerBeforeAnswering";
import type { BaselineSituation } from "@/solver/baselines/situation";
import { standAlone } from "@/solver/baselines/standAlone";
import { type Baseline, gpusOf, type ReplicaChoice, type System } from "@/solver/baselines/system";
import { uniformAllocation, uniformParallelism } from "@/solver/baselines/uniform";
import { buildPlan } from "@/solver/cascade/buildPlan";
import { costUsdPerRequest } from "@/solver/cascade/choose";
import { createExplorer, type Explorer } from "@/solver/cascade/explore";
import { planningSample } from "@/solver/cascade/routing";
import { saturationRate } from "@/solver/engine/saturation";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { type CardCatalogue, cardOf, catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { feasibleShapes, replicaModel } from "@/solver/hardware/replicaShapes";
import type { MilpEngine } from "@/solver/milp/engine";
import { mixSeed } from "@/solver/numeric/random";
import type { PlanDraft } from "@/solver/plan/plan";
import { DEFAULT_JUDGE, DEFAULT_PERCENTILE, DEFAULT_QUALITY_CONFIDENCE, type PlanningSituation } from "./planningRequest";

/** The rate of a comparison: given, or such that it loads the busiest stage of Weir's plan to a share within bounds. */
export type ComparedRate =
  | { readonly kind: "rate"; readonly requestsPerSecond: number }
  | { readonly kind: "load"; readonly least: number; readonly most: number };

export interface CompareRequest {
  readonly situation: Omit<PlanningSituation, "requestsPerSecond">;
  readonly floors: readonly number[];
  readonly rate: ComparedRate;
  /** The deadline behind the highest throughput, as a multiple of the base. */
  readonly sloScale: number;
  /** Requests simulated per measurement, at most; fewer where the recorded arrivals are fewer. */
  readonly requests: number;
  readonly engine: MilpEngine;
  readonly progress: (line: string) => void;
}

/** What one system did on the half of the prompts that nobody planned on. */
export interface ComparedSystem {
  /** What it is a case of; means over cases are taken by it. */
  readonly kind: string;
  readonly name: string;
  readonly cascade: string;
  readonly gpus: number;
  /** Mean label of accepted answers on the measuring half. */
  readonly quality: number;
  readonly p95Seconds: number;
  readonly meanSeconds: number;
  /** Smallest deadline that 95 % of requests keep, over the base. */
  readonly sloScale: number;
  /** Load of its busiest stage; from 1 on it does not keep up, and its SLO scale grows with the length of the run. */
  readonly busiestLoad: number;
  /** Highest rate that it keeps up with and at which 95 % keep the stated SLO scale; 0 where none was found. */
  readonly highestRequestsPerSecond: number;
  /** At its highest rate; null where that is 0. */
  readonly costUsdPerRequest: number | null;
  /** Its SLO scale over Weir's, and Weir's highest rate over its own (null where that is 0): above 1 Weir is better. */
  readonly against: { readonly sloScale: number; readonly throughput: number | null };
}

export interface ComparedCase {
  readonly workload: string;
  readonly floor: number;
  readonly requestsPerSecond: number;
  /** One for all systems. */
  readonly baseSeconds: number;
  /** Weir's plan first; empty where the floor cannot be reached. */
  readonly systems: readonly ComparedSystem[];
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
}

/** Plans tried for a rate that loads the busiest stage as asked. */
const RATE_ATTEMPTS = 10;

/**
 * Compares Weir's plan with the baselines, floor by floor. All plan on one half of the prompts, by the same simulator, profile and
 * replica shapes, and are measured by simulating the whole system on the other half, under the same arrivals. Plans are
 * kept when the rate is raised to find the highest. Deterministic.
 */
export function compareSystems(request: CompareRequest): ComparedCase[] {
  const { situation, floors, progress } = request;
  let guess: number | null = null;
  return floors.map((floor) => {
    progress(`${situation.workload.name}, floor ${floor}`);
    const compared = compareCase(request, { floor, guess });
    guess = compared.requestsPerSecond;
    return compared;
  });
}

/** A situation with all that does not depend on the rate. */
interface Ground extends ReplicaChoice {
  readonly request: CompareRequest;
  readonly cards: CardCatalogue;
  readonly planning: Int32Array;
  readonly measuring: Int32Array;
  readonly gpus: number;
  readonly judge: { readonly model: string; readonly secondsPerCall: number; readonly usdPerCall: number };
}

function groundOf(request: CompareRequest): Ground {
  const { workload, cluster, userCards = noUserCards, engineProfile, judge, models: asked } = request.situation;
  const cards = catalogueOf(userCards);
  const gpu = cardOf(cards.gpus, cluster.gpu);
  if (gpu === undefined) throw new Error(`no card of the GPU ${cluster.gpu}`);
  const gpus = cluster.nodes.reduce((sum, node) => sum + node.gpus, 0);
  const gpusPerNode = Math.max(...cluster.nodes.map((node) => node.gpus));
  const models = workload.outcomes.models.map(({ model }) => model).filter((model) => asked?.includes(model) ?? true);
  const shapes = models.map((id) => {
    const card = cardOf(cards.models, id);
    if (card === undefined) throw new Error(`no card of the model ${id}`);
    return feasibleShapes(card, gpu, { gpusPerNode, maxGpus: gpus }).flatMap((shape) => {
      const fit = replicaModel(card, gpu, shape, engineProfile);
      return fit.fits ? [{ shape, replica: fit.replica }] : [];
    });
  });
  const split = halves(workload.outcomes.promptIds.length, workload.seed);
  return { request, cards, models, shapes, gpus, judge: { ...DEFAULT_JUDGE, ...judge }, ...split };
}

function compareCase(request: CompareRequest, { floor, guess }: { readonly floor: number; readonly guess: number | null }): ComparedCase {
  const ground = groundOf(request);
  const { situation, sloScale, requests, progress } = request;
  const { workload, cluster } = situation;
  const base = baseSeconds(workload.outcomes, ground.measuring, ground);
  const planned = request.rate.kind === "rate" ? planAt(ground, floor, request.rate.requestsPerSecond) : planAtLoad(ground, floor, guess);
  const common = { workload: workload.name, floor, requestsPerSecond: planned.requestsPerSecond, baseSeconds: base };
  if (planned.outcome === "none") return { ...common, systems: [], refused: [{ name: "Weir", reason: planned.reason }] };
  const { explorer, plan, requestsPerSecond } = planned;
  const baselines = baselinesOf({ explorer, floor, nodes: cluster.nodes, outcomes: workload.outcomes, planning: ground.planning }, plan);
  const traffic = drawTraffic(
    { outcomes: workload.outcomes, arrivalSeconds: workload.arrivalSeconds, judgeSeconds: ground.judge.secondsPerCall },
    { rows: ground.measuring, requests, seed: workload.seed },
  );
  const deadline = sloScale * base;
  const measured: Omit<ComparedSystem, "against">[] = [];
  for (const { kind, system } of [{ kind: "Weir", system: systemOf(plan) }, ...baselines.systems]) {
    const own = measuredSystem(ground, system, { traffic, requestsPerSecond, deadline });
    measured.push({ kind, ...own, sloScale: own.p95Seconds / base });
    progress(`  ${system.name}: SLO scale ${(own.p95Seconds / base).toFixed(2)}, ${own.highestRequestsPerSecond.toFixed(1)} requests/s`);
  }
  const ours = measured[0];
  const systems = measured.map((one) => ({
    ...one,
    against: {
      sloScale: one.sloScale / (ours?.sloScale ?? Number.NaN),
      throughput: one.highestRequestsPerSecond > 0 ? (ours?.highestRequestsPerSecond ?? Number.NaN) / one.highestRequestsPerSecond : null,
    },
  }));
  return { ...common, systems, refused: baselines.refused };
}

type Planned =
  | { readonly outcome: "plan"; readonly requestsPerSecond: number; readonly explorer: Explorer; readonly plan: PlanDraft }
  | { readonly outcome: "none"; readonly requestsPerSecond: number; readonly reason: string; readonly reachable: boolean };

function planAt(ground: Ground, floor: number, requestsPerSecond: number): Planned {
  const { request, models, shapes, planning, gpus, judge, cards } = ground;
  const { workload, workloadId, cluster, engineProfile } = request.situation;
  const explorer = createExplorer({
    sample: planningSample(workload.outcomes, planning, models),
    shapes,
    arrivalSeconds: workload.arrivalSeconds,
    requestsPerSecond,
    maxGpus: gpus,
    usdPerGpuHour: cluster.usdPerGpuHour,
    judge,
    quantile: DEFAULT_PERCENTILE / 100,
    qualityConfidence: DEFAULT_QUALITY_CONFIDENCE,
    seed: mixSeed(workload.seed, "planning"),
    cancelled: () => false,
  });
  const built = buildPlan({
    explorer,
    workload: { ...workload, outcomes: tableRows(workload.outcomes, planning) },
    workloadId,
    cluster,
    objective: {
      kind: "latency-under-quality",
      latency: "end-to-end",
      percentile: DEFAULT_PERCENTILE,
      qualityFloor: floor,
      qualityConfidence: DEFAULT_QUALITY_CONFIDENCE,
      latencyBudgetSeconds: null,
      maxGpus: gpus,
    },
    judge,
    cards,
    profile: engineProfile ?? vllmProfile,
    fixed: null,
    engine: request.engine,
    elapsedSeconds: () => 0,
  });
  if (built.outcome === "plan") return { outcome: "plan", requestsPerSecond, explorer, plan: built.draft };
  const reachable = explorer.exploration().routings.some(({ qualityLow }) => qualityLow >= floor);
  return { outcome: "none", requestsPerSecond, reason: built.reason, reachable };
}

/** Plans at rates one after another until the busiest stage's load lies within the bounds; the nearest below them if none does. */
function planAtLoad(ground: Ground, floor: number, guess: number | null): Planned {
  const { request, planning } = ground;
  const { rate, situation } = request;
  if (rate.kind !== "load") throw new Error("no load was asked");
  const aim = (rate.least + rate.most) / 2;
  let low = 0;
  let high = Number.POSITIVE_INFINITY;
  let requestsPerSecond = guess ?? firstRate(ground);
  let best: Planned | null = null;
  for (let attempt = 0; attempt < RATE_ATTEMPTS; attempt += 1) {
    const planned = planAt(ground, floor, requestsPerSecond);
    if (planned.outcome === "none" && !planned.reachable) return planned;
    let load = Number.POSITIVE_INFINITY;
    if (planned.outcome === "plan") {
      load = busiestLoad(
        systemOf(planned.plan),
        { outcomes: situation.workload.outcomes, rows: planning },
        { ...ground, requestsPerSecond },
      );
      if (load <= rate.most) best = planned;
      if (load >= rate.least && load <= rate.most) return planned;
    }
    if (load < rate.least) low = requestsPerSecond;
    else high = requestsPerSecond;
    const aimed = requestsPerSecond * Math.min(2, Math.max(0.5, aim / load));
    requestsPerSecond = aimed > low && aimed < high ? aimed : Math.sqrt(low * high);
  }
  return best ?? { outcome: "none", requestsPerSecond, reason: "No rate loads the busiest stage as asked.", reachable: true };
}

/** Half of what the largest model's smallest replicas carry on all GPUs: somewhere to start. */
function firstRate({ request, models, shapes, planning, gpus }: Ground): number {
  const largest = shapes.findLastIndex((own) => own.length > 0);
  const smallest = shapes[largest]?.[0];
  if (smallest === undefined) return 1;
  const sample = planningSample(request.situation.workload.outcomes, planning, models);
  const work = { inputTokens: sample.inputTokens, outputTokens: sample.outputTokens[largest] ?? new Int32Array() };
  const { tp, pp } = smallest.shape;
  return (0.5 * (saturationRate(smallest.replica, work, sample.prompts) ?? 1) * gpus) / (tp * pp);
}

const systemOf = ({ deployment, policy }: PlanDraft): System => ({
  name: "Weir",
  stages: policy.stages.map(({ model }) => ({
    model,
    replicas: (deployment.find((own) => own.model === model)?.replicas ?? []).map(({ tp, pp, count }) => ({ shape: { tp, pp }, count })),
  })),
  routing: { kind: "cascade", thresholds: policy.thresholds },
});

interface Baselines {
  readonly systems: readonly { readonly kind: string; readonly system: System }[];
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
}

function baselinesOf(situation: BaselineSituation, plan: PlanDraft): Baselines {
  const { models } = situation.explorer.input.sample;
  const routing = { stages: plan.policy.stages.map(({ model }) => models.indexOf(model)), thresholds: plan.policy.thresholds };
  const alone = models.map((_, model) => standAlone(situation, model));
  const smallest = alone.find(({ outcome }) => outcome === "system");
  const all: readonly { readonly kind: string; readonly baseline: Baseline }[] = [
    ...alone.map((baseline) => ({ kind: baseline === smallest ? "stand-alone" : "larger stand-alone", baseline })),
    { kind: "CascadeServe", baseline: cascadeServe(situation) },
    { kind: "uniform parallelism", baseline: uniformParallelism(situation, routing) },
    { kind: "uniform allocation", baseline: uniformAllocation(situation, routing) },
    { kind: "router", baseline: routerBeforeAnswering(situation, PROMPT_AUC) },
    { kind: "oracle router", baseline: routerBeforeAnswering(situation, 1) },
  ];
  return {
    systems: all.flatMap(({ kind, baseline }) => (baseline.outcome === "system" ? [{ kind, system: baseline.system }] : [])),
    refused: all.flatMap(({ baseline }) => (baseline.outcome === "none" ? [{ name: baseline.name, reason: baseline.reason }] : [])),
  };
}

function measuredSystem(
  ground: Ground,
  system: System,
  { traffic, requestsPerSecond, deadline }: { readonly traffic: Traffic; readonly requestsPerSecond: number; readonly deadline: number },
): Omit<ComparedSystem, "against" | "kind" | "sloScale"> {
  const { request, measuring, judge } = ground;
  const { workload, cluster } = request.situation;
  const at = (rate: number) => measure(system, traffic, { ...ground, requestsPerSecond: rate });
  const { p95Seconds, meanSeconds } = at(requestsPerSecond);
  const load = busiestLoad(system, { outcomes: workload.outcomes, rows: measuring }, { ...ground, requestsPerSecond });
  // A run of finite length may end before the queue of an overloaded stage has grown past the deadline: such a rate does not count.
  const keepsUp = (rate: number): boolean => (load * rate) / requestsPerSecond < 1;
  const highest = highestRate((rate) => keepsUp(rate) && at(rate).p95Seconds <= deadline, requestsPerSecond);
  const { quality, share } = routedBy(system, workload.outcomes, measuring);
  const gpus = gpusOf(system);
  const judged = system.routing.kind === "cascade" ? share : [];
  return {
    name: system.name,
    cascade: cascadeText(system),
    gpus,
    quality,
    p95Seconds,
    meanSeconds,
    busiestLoad: load,
    highestRequestsPerSecond: highest,
    costUsdPerRequest:
      highest > 0
        ? costUsdPerRequest({ gpus, usdPerGpuHour: cluster.usdPerGpuHour, requestsPerSecond: highest, share: judged, judge })
        : null,
  };
}

const cascadeText = ({ stages, routing }: System): string =>
  stages
    .map(({ model, replicas }, stage) => {
      const shapes = replicas.map(({ shape, count }) => `${count} x tp${shape.tp}${shape.pp > 1 ? ` pp${shape.pp}` : ""}`).join(" + ");
      const threshold = routing.thresholds[stage];
      return `${model} (${shapes})${threshold === undefined ? "" : ` <${threshold}> `}`;
    })
    .join("");
