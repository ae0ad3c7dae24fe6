import type { SolveRequest } from "@/server/contracts/planRequest";
import type { Planner } from "@/server/planning/planner/planner";
import { measuredRequests, predictionBand, statistic } from "@/solver/cascade/deploy/predictionBand";
import { simulatedRequests, WARM_UP_SHARE } from "@/solver/cascade/deploy/wholeSimulation";
import type { FixedJudge, PlanningSituation } from "@/solver/cascade/explore/situation";
import type { ClusterReplica } from "@/solver/cluster/clusterEngines";
import { simulateCluster } from "@/solver/cluster/simulateCluster";
import { saturationRate } from "@/solver/engine/saturation";
import type { UserCards } from "@/solver/hardware/cardSchema";
import { catalogueOf } from "@/solver/hardware/catalogue";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import { PROCESSOR_CARD } from "@/solver/hardware/processorCard";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { quantile } from "@/solver/numeric/quantile";
import { mixSeed } from "@/solver/numeric/random";
import { inFlightLimit } from "@/solver/plan/inFlightLimit";
import type { CascadePolicy, Objective, Plan } from "@/solver/plan/plan";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { drawSample } from "@/solver/workload/sample";
import type { Workload } from "@/solver/workload/workload";
import { CORES, NODE } from "./connections";
import { figuresOf, type RunFigures } from "./figures";
import type { Predicted } from "./records";

/** What plans of the bench are made for: this host, whose cores stand for GPUs. */
export interface PredictionContext {
  readonly planner: Planner;
  readonly profile: EngineProfile;
  /** SHA-256 of the profile. */
  readonly profileHash: string;
  readonly cards: UserCards;
  /** Length of a run, seconds. */
  readonly seconds: number;
}

export interface Asked {
  readonly workload: Workload;
  readonly requestsPerSecond: number;
  /** Models that may serve. */
  readonly models: readonly string[];
  /** Cores that the plan may use. */
  readonly mostCores: number;
  /** null: the planner chooses. */
  readonly fixed: SolveRequest["fixed"];
  readonly qualityFloor: number;
  readonly judge: FixedJudge | null;
}

/** A plan, or why there is none. */
export async function planOf(
  { planner, profile, cards, seconds }: PredictionContext,
  asked: Asked,
): Promise<Plan | { readonly refused: string }> {
  const { workload, requestsPerSecond, models, mostCores, fixed, qualityFloor, judge } = asked;
  const objective: Objective = {
    kind: "latency-under-quality",
    latency: "end-to-end",
    percentile: 95,
    qualityFloor,
    qualityConfidence: null,
    latencyBudgetSeconds: null,
    maxGpus: mostCores,
  };
  const situation: PlanningSituation = {
    workload,
    workloadId: `${workload.name} ${models.join(" ")}`,
    cluster: {
      ...{ id: "this-computer", name: "This computer", kind: "described", gpu: PROCESSOR_CARD, usdPerGpuHour: 0.05 },
      nodes: [{ name: NODE, gpus: CORES }],
    },
    ...{ requestsPerSecond, models, userCards: cards, engineProfile: profile, measuredSeconds: seconds },
    ...(judge === null ? {} : { judge }),
  };
  const answer = await planner.solve({ ...situation, objective, fixed });
  if (answer.outcome === "infeasible") return { refused: answer.reason };
  if (answer.plan.policy.kind !== "cascade") throw new Error(`a cascade was asked, a ${answer.plan.policy.kind} came`);
  return answer.plan as Plan;
}

/** A model's replica under a profile. @throws when it does not fit its card. */
export function replicaOf({ profile, cards }: Pick<PredictionContext, "profile" | "cards">, model: string) {
  const all = catalogueOf(cards);
  const [card, core] = [all.models[model], all.gpus[PROCESSOR_CARD]];
  if (card === undefined || core === undefined) throw new Error(`no card of ${card === undefined ? model : PROCESSOR_CARD}`);
  const fit = replicaModel(card, core, { tp: 1, pp: 1 }, profile);
  if (!fit.fits) throw new Error(fit.reason);
  return fit.replica;
}

/** One model alone on one core: the plan's figures, and those of the same simulation that a plan does not have. */
export async function predictedAlone(
  context: PredictionContext,
  asked: Asked,
): Promise<{ readonly prediction: Predicted; readonly plan: Plan | null }> {
  const { workload, requestsPerSecond, models } = asked;
  const [model = ""] = models;
  const plan = await planOf(context, asked);
  const replica = replicaOf(context, model);
  const simulated = simulatedOf(context, asked, "refused" in plan ? aloneOf(model) : plan);
  const own = workload.outcomes.models.find((one) => one.model === model);
  const work = { inputTokens: workload.outcomes.inputTokens, outputTokens: own?.outputTokens ?? new Int32Array() };
  const saturation = saturationRate(replica, repeated(work), 900) ?? Number.NaN;
  if (!("refused" in plan)) {
    const { p95Seconds, p95Band, stages } = plan.predictions;
    // The plan's own simulation and this one are the same.
    if (Math.abs(simulated.figures.p95 / p95Seconds - 1) > 0.001) throw new Error("the bench simulates another run than the planner");
    const band = { p95Low: p95Band.low, p95High: p95Band.high };
    const utilisation = stages[0]?.utilisation ?? Number.NaN;
    return { prediction: { ...simulated.figures, ...band, utilisation, refused: null, plan: plan.id }, plan };
  }
  const figure = statistic(
    simulated.endToEndSeconds,
    (seconds) => quantile(seconds, 0.95),
    measuredRequests(requestsPerSecond, context.seconds),
  );
  const { low, high } = predictionBand(figure, context.profile, { extrapolated: false, nearSaturation: true });
  const utilisation = requestsPerSecond / saturation;
  const prediction = { ...simulated.figures, p95Low: low, p95High: high, utilisation, refused: plan.refused, plan: null };
  return { prediction, plan: null };
}

function repeated({ inputTokens, outputTokens }: { readonly inputTokens: Int32Array; readonly outputTokens: Int32Array }) {
  const at = (of: Int32Array) => Int32Array.from({ length: 900 }, (_, index) => of[index % of.length] ?? 1);
  return { inputTokens: at(inputTokens), outputTokens: at(outputTokens) };
}

/** Figures of a plan that its predictions leave out, by the simulation that made them. */
export function simulatedOf(
  context: PredictionContext,
  { workload, requestsPerSecond, judge }: Pick<Asked, "workload" | "requestsPerSecond" | "judge">,
  { policy, deployment }: Pick<Plan, "deployment"> & { readonly policy: Plan["policy"] },
): { readonly figures: RunFigures; readonly endToEndSeconds: Float64Array } {
  const requests = simulatedRequests(workload);
  const sample = drawSample(workload, {
    ...{ part: "planning", requestsPerSecond, requests },
    seed: mixSeed(workload.seed, "planning"),
  });
  const replicas = deployment.flatMap(({ model, replicas: groups }) =>
    groups.flatMap((group, at) =>
      Array.from({ length: group.count }, (_, index): ClusterReplica => {
        return { id: `${model} ${at} ${index}`, model, replica: replicaOf(context, model), maxInFlight: inFlightLimit(group) };
      }),
    ),
  );
  const outcome = simulateCluster({
    policy: buildPolicy(policy),
    ...{ replicas, sample, outcomes: workload.outcomes },
    judgeSeconds: judge?.secondsPerCall ?? 0,
    judgeVariation: judge?.variation,
  });
  const from = Math.floor(WARM_UP_SHARE * requests);
  const endToEndSeconds = outcome.endToEndSeconds.subarray(from);
  const [first] = workload.outcomes.models;
  const streamed = outcome.stages.length === 1;
  const figures = figuresOf({
    endToEndSeconds,
    ttftSeconds: streamed ? outcome.ttftSeconds.subarray(from) : null,
    outputTokens: sample.prompt.subarray(from).map((prompt) => first?.outputTokens[prompt] ?? 1),
  });
  return { figures, endToEndSeconds };
}

/** A deployment of one model that no planner made. */
function aloneOf(model: string): Pick<Plan, "deployment"> & { readonly policy: CascadePolicy } {
  return {
    policy: {
      kind: "cascade",
      stages: [{ model }],
      thresholds: [],
      judge: { model: "weir-judge", secondsPerCall: 0, usdPerCall: 0 },
      ...{ order: { kind: "fcfs" }, place: { kind: "least-load" }, approvedRanges: { thresholds: [] } },
    },
    deployment: [
      {
        ...{ model, gpu: PROCESSOR_CARD, gpus: 1, precision: "bf16" },
        replicas: [{ ...{ tp: 1, pp: 1, count: 1, shareEach: 1 }, placements: [[{ node: NODE, gpus: [0] }]] }],
      },
    ],
  };
}
