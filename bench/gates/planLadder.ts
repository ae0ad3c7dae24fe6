import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import { createPlanningDesk } from "@/server/planning/planner/planningDesk";
import { DEFAULT_PERCENTILE, DEFAULT_QUALITY_CONFIDENCE, type PlanningSituation } from "@/solver/cascade/explore/situation";
import { type ServingEngine, servingFiguresOf, servingRefusal } from "@/solver/cascade/whatIf/servingFigures";
import { saturationRate } from "@/solver/engine/saturation";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { gpuCard } from "@/solver/hardware/gpus";
import { modelCard } from "@/solver/hardware/models";
import { feasibleReplicas } from "@/solver/hardware/replicaShapes";
import { mixSeed } from "@/solver/numeric/random";
import { gpuCount } from "@/solver/plan/clusterGpus";
import { inFlightLimit } from "@/solver/plan/inFlightLimit";
import type { Objective, PlanDraft } from "@/solver/plan/plan";
import type { GateChoice } from "@/solver/plan/planGates";
import { applyJudge } from "@/solver/workload/applyJudge";
import type { Workload } from "@/solver/workload/workload";
import { once } from "../lib/once";
import { EXTRACTED, type LadderAnswers } from "./answers";
import { agreementSignal } from "./signals";

/** Splits of the questions; each has its own modelled judge. */
export const PLAN_SEEDS = [1, 2, 3] as const;

/**
 * Shares of the rate that the larger model alone would be saturated by on all GPUs. The first was set before any run; Gemma has no plan at it,
 * with any gate, so that half of it was added.
 */
export const PLAN_LOADS = [1, 0.5] as const;

/** Reliability of the judge, and its engine: a small model, which is kind to the judge, with a short instruction and a score as reply. */
const JUDGE = { auc: 0.8, engine: { kind: "engine", model: "qwen2.5-7b", rubricTokens: 150, outputTokens: 4 } } as const;

const CLUSTER: PlanningSituation["cluster"] = {
  ...{ id: "bench", name: "bench", kind: "described", gpu: "h100-sxm", usdPerGpuHour: 2.67 },
  nodes: [1, 2].map((node) => ({ name: `node${node}`, gpus: 8 })),
};

/** Cards of the models. Phi-3.5-mini has the layers of Phi-3-mini. */
const CARDS: Readonly<Record<string, string>> = {
  "Meta-Llama-3.1-8B-Instruct": "llama-3.1-8b",
  "Meta-Llama-3.1-70B-Instruct": "llama-3.1-70b",
  "gemma-2-2b-it": "gemma-2-2b",
  "gemma-2-9b-it": "gemma-2-9b",
  "gemma-2-27b-it": "gemma-2-27b",
  "Phi-3.5-mini-instruct": "phi-3-mini-4k",
  "Qwen2-7B-Instruct": "qwen2-7b",
  "Qwen2-72B-Instruct": "qwen2-72b",
};

/** Requests of a run at saturation: several times the largest batch. */
const SATURATION_REQUESTS = 900;

/** A plan's figures on planning questions, as promised, and on held-out ones, simulated whole. */
export interface PlannedGateFigures {
  readonly gate: string;
  readonly thresholds: readonly number[];
  readonly gpusByModel: Readonly<Record<string, number>>;
  readonly promisedP95: number;
  readonly promisedLow: number;
  /** null: the held-out requests overload it. */
  readonly heldP95: number | null;
  readonly heldQuality: number | null;
  /** Share of the held-out requests that reach the last model. */
  readonly heldShare: number | null;
}

export interface PlannedCase {
  readonly ladder: string;
  readonly floor: number;
  readonly seed: number;
  /** One of `PLAN_LOADS`. */
  readonly load: number;
  readonly requestsPerSecond: number;
  /** null: no plan. */
  readonly judge: PlannedGateFigures | null;
  /** The plan of the gate that the planner takes of all. */
  readonly best: PlannedGateFigures | null;
}

const desk = once(async () => createPlanningDesk(await loadGlpkEngine(), () => performance.now() / 1000));

/** Plans a ladder at each of its floors with the judge alone and with the best gate, on the same GPUs and trace, and measures both held out. */
export async function planLadder(
  answers: LadderAnswers,
  arrivalSeconds: Float64Array,
  { seed, load }: { readonly seed: number; readonly load: number },
): Promise<readonly PlannedCase[]> {
  const workload = workloadOf(answers, { arrivalSeconds, seed });
  const { ladder } = answers;
  const models = [ladder.model, ladder.next].map(cardOf);
  const situation: PlanningSituation = {
    ...{ workload, workloadId: `${ladder.name} ${seed}`, cluster: CLUSTER, models, judge: JUDGE.engine },
    requestsPerSecond: Number((load * largestAlone(workload, cardOf(ladder.next))).toPrecision(3)),
  };
  const planning = await desk();
  const planned = (floor: number, gateChoice: GateChoice): PlannedGateFigures | null => {
    const answer = planning.work(situation, { kind: "solve", objective: objectiveOf(floor), fixed: null, gateChoice }, () => false);
    return answer.kind === "draft" ? figuresOf(answer.draft, situation) : null;
  };
  return ladder.floors.map((floor) => {
    const { requestsPerSecond } = situation;
    process.stderr.write(`${ladder.name}, floor ${floor}, load ${load}, split ${seed}\n`);
    return { ladder: ladder.name, floor, seed, load, requestsPerSecond, judge: planned(floor, "judge"), best: planned(floor, "any") };
  });
}

const objectiveOf = (qualityFloor: number): Objective => ({
  ...{ kind: "latency-under-quality", latency: "end-to-end", percentile: DEFAULT_PERCENTILE },
  ...{ qualityFloor, qualityConfidence: DEFAULT_QUALITY_CONFIDENCE, latencyBudgetSeconds: null, maxGpus: gpuCount(CLUSTER) },
});

function cardOf(model: string): string {
  const card = CARDS[model];
  if (card === undefined) throw new Error(`no card of ${model}`);
  return card;
}

/** The ladder's answers with the peer's as a third model, the modelled judge's scores and the agreement of the first model with the peer. */
function workloadOf(answers: LadderAnswers, { arrivalSeconds, seed }: Pick<Workload, "arrivalSeconds" | "seed">): Workload {
  const { ladder, outcomes, peerTokens } = answers;
  const [own, next] = applyJudge(outcomes, { kind: "modelled", auc: JUDGE.auc, seed: mixSeed(seed, "judge of a plan") }).models;
  if (own === undefined || next === undefined) throw new Error("A ladder has two models");
  const peer = cardOf(ladder.peer);
  const unread = new Float64Array(peerTokens.length);
  return {
    name: ladder.name,
    outcomes: {
      ...outcomes,
      models: [
        { ...own, model: cardOf(own.model), agreement: agreementSignal(answers).raw },
        { model: peer, tableName: ladder.peer, outputTokens: peerTokens, label: unread, judged: unread },
        { ...next, model: cardOf(next.model) },
      ],
    },
    arrivalSeconds,
    judge: { kind: "modelled", auc: JUDGE.auc, seed },
    origin: {
      outcomes: "published answers",
      arrivals: "a trace",
      generated: false,
      agreement: { answer: EXTRACTED[ladder.task], peers: [peer] },
    },
    seed,
  };
}

/** Requests per second that the larger model alone would be saturated by on all GPUs, in its smallest replicas. */
function largestAlone({ outcomes }: Workload, model: string): number {
  const [card, gpu] = [modelCard(model), gpuCard(CLUSTER.gpu)];
  const own = outcomes.models.find((one) => one.model === model);
  if (card === undefined || gpu === undefined || own === undefined) throw new Error(`no card or answers of ${model}`);
  const gpus = gpuCount(CLUSTER);
  const [smallest] = feasibleReplicas(card, gpu, { gpusPerNode: 8, maxGpus: gpus });
  if (smallest === undefined) throw new Error(`${model} does not fit`);
  const rows = Int32Array.from({ length: SATURATION_REQUESTS }, (_, index) => index % outcomes.promptIds.length);
  const work = {
    inputTokens: rows.map((row) => outcomes.inputTokens[row] ?? 0),
    outputTokens: rows.map((row) => own.outputTokens[row] ?? 0),
  };
  const each = saturationRate(smallest.replica, work, SATURATION_REQUESTS) ?? 0;
  return (each * gpus) / (smallest.shape.tp * smallest.shape.pp);
}

function figuresOf({ policy, deployment, predictions, solver }: PlanDraft, situation: PlanningSituation): PlannedGateFigures {
  const engines = deployment.flatMap(({ model, gpu, replicas }): ServingEngine[] =>
    replicas.flatMap((group) => {
      const engine = { model, gpu: group.gpu ?? gpu, tp: group.tp, pp: group.pp, maxInFlight: inFlightLimit(group) };
      return Array.from({ length: group.count }, () => engine);
    }),
  );
  const { workload, requestsPerSecond } = situation;
  const traffic = { workload, requestsPerSecond, cards: catalogueOf(noUserCards), profile: vllmProfile, part: "heldOut" as const };
  const refusal = servingRefusal(traffic, { policy, engines });
  if (refusal !== null) throw new Error(refusal);
  const held = servingFiguresOf(traffic)({ policy, engines });
  return {
    gate: solver.comparedGates?.find(({ chosen }) => chosen)?.kind ?? "judge",
    thresholds: policy.thresholds,
    gpusByModel: Object.fromEntries(deployment.map(({ model, gpus }) => [model, gpus])),
    ...{ promisedP95: predictions.p95Seconds, promisedLow: predictions.qualityBand.low },
    ...{ heldP95: held.p95Seconds, heldQuality: held.quality, heldShare: held.share.at(-1) ?? null },
  };
}
