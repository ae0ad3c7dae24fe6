import { halves, tableRows } from "@/solver/baselines/halves";
import { busiestLoad } from "@/solver/baselines/measure";
import { type ReplicaChoice, systemOf } from "@/solver/baselines/system";
import type { Explorer } from "@/solver/cascade/explore/explorer";
import { DEFAULT_PERCENTILE, DEFAULT_QUALITY_CONFIDENCE, judgeOf, type PlanningSituation } from "@/solver/cascade/explore/situation";
import { catalogue, explorerOf, modelsOf, shapesOf } from "@/solver/cascade/explore/situationExplorer";
import { buildPlan } from "@/solver/cascade/plan/buildPlan";
import { planningSample } from "@/solver/cascade/routing/routing";
import { saturationRate } from "@/solver/engine/saturation";
import type { CardCatalogue } from "@/solver/hardware/catalogue";
import type { MilpEngine } from "@/solver/milp/engine";
import { gpuCount } from "@/solver/plan/clusterGpus";
import { noConstraints } from "@/solver/plan/constraints";
import type { PlanDraft } from "@/solver/plan/plan";

/** Plans tried to reach the requested load of the busiest stage. */
const RATE_ATTEMPTS = 10;

/** The planning input of comparisons, each at its own rate. */
export interface GroundRequest {
  readonly situation: Omit<PlanningSituation, "requestsPerSecond">;
  readonly engine: MilpEngine;
}

/** The part of a situation that does not depend on the rate. */
export interface ComparisonContext extends ReplicaChoice {
  readonly request: GroundRequest;
  readonly cards: CardCatalogue;
  readonly planning: Int32Array;
  readonly measuring: Int32Array;
  readonly gpus: number;
  readonly judge: { readonly model: string; readonly secondsPerCall: number; readonly usdPerCall: number };
}

/**
 * Splits the prompts in halves and finds the shapes that fit.
 * @throws if a card is missing.
 */
export function groundOf(request: GroundRequest): ComparisonContext {
  const { situation } = request;
  const { workload, cluster } = situation;
  const models = modelsOf(situation);
  return {
    request,
    cards: catalogue(situation),
    models,
    shapes: shapesOf(situation, models),
    gpus: gpuCount(cluster),
    judge: judgeOf(situation),
    ...halves(workload.outcomes.promptIds.length, workload.seed),
  };
}

/** Weir's plan at a rate with the explorer it came from, or why there is none. */
export type Planned =
  | { readonly outcome: "plan"; readonly requestsPerSecond: number; readonly explorer: Explorer; readonly plan: PlanDraft }
  | { readonly outcome: "none"; readonly requestsPerSecond: number; readonly reason: string; readonly reachable: boolean };

/** An explorer over the ground's planning prompts. */
export function explorerAt({ request, models, planning }: ComparisonContext, requestsPerSecond: number): Explorer {
  return explorerOf(
    { ...request.situation, requestsPerSecond },
    {
      models,
      rows: planning,
      percentile: DEFAULT_PERCENTILE,
      qualityConfidence: DEFAULT_QUALITY_CONFIDENCE,
      cancelled: () => false,
    },
  );
}

/** Weir's plan on the ground's planning prompts: least end-to-end p95 under the floor's lower bound, on all GPUs. */
export function planAt(ground: ComparisonContext, floor: number, requestsPerSecond: number): Planned {
  const { request, planning, gpus } = ground;
  const { workload } = request.situation;
  const explorer = explorerAt(ground, requestsPerSecond);
  const built = buildPlan({
    ...request.situation,
    requestsPerSecond,
    workload: { ...workload, outcomes: tableRows(workload.outcomes, planning) },
    constraints: noConstraints,
    running: [],
    explorer,
    objective: {
      kind: "latency-under-quality",
      latency: "end-to-end",
      percentile: DEFAULT_PERCENTILE,
      qualityFloor: floor,
      qualityConfidence: DEFAULT_QUALITY_CONFIDENCE,
      latencyBudgetSeconds: null,
      maxGpus: gpus,
    },
    fixed: null,
    engine: request.engine,
    elapsedSeconds: () => 0,
  });
  if (built.outcome === "plan") return { outcome: "plan", requestsPerSecond, explorer, plan: built.draft };
  const reachable = explorer.exploration().routings.some(({ qualityLow }) => qualityLow >= floor);
  return { outcome: "none", requestsPerSecond, reason: built.reason, reachable };
}

/** Plans at one rate after another until the busiest stage's load is within the bounds; the nearest below them if none is. */
export function planAtLoad(
  ground: ComparisonContext,
  { floor, least, most, guess }: { readonly floor: number; readonly least: number; readonly most: number; readonly guess: number | null },
): Planned {
  const { request, planning } = ground;
  const { situation } = request;
  const aim = (least + most) / 2;
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
        systemOf(planned.plan, situation.workload.outcomes),
        { outcomes: situation.workload.outcomes, rows: planning },
        { ...ground, requestsPerSecond },
      );
      if (load <= most) best = planned;
      if (load >= least && load <= most) return planned;
    }
    if (load < least) low = requestsPerSecond;
    else high = requestsPerSecond;
    const aimed = requestsPerSecond * Math.min(2, Math.max(0.5, aim / load));
    requestsPerSecond = aimed > low && aimed < high ? aimed : Math.sqrt(low * high);
  }
  return best ?? { outcome: "none", requestsPerSecond, reason: "No rate loads the busiest stage as asked.", reachable: true };
}

/** An initial rate: half of what the largest model's smallest replicas sustain on all GPUs. */
function firstRate({ request, models, shapes, planning, gpus }: ComparisonContext): number {
  const largest = shapes.findLastIndex((own) => own.length > 0);
  const smallest = shapes[largest]?.[0];
  if (smallest === undefined) return 1;
  const sample = planningSample(request.situation.workload.outcomes, planning, models);
  const work = { inputTokens: sample.inputTokens, outputTokens: sample.outputTokens[largest] ?? new Int32Array() };
  const { tp, pp } = smallest.shape;
  return (0.5 * (saturationRate(smallest.replica, work, sample.prompts) ?? 1) * gpus) / (tp * pp);
}
