import { usdPerHour } from "@/solver/cascade/deploy/deployedStage";
import { measuredRequests, predictionBand, statistic } from "@/solver/cascade/deploy/predictionBand";
import { stabilityOf } from "@/solver/engine/saturation";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { noUserCards } from "@/solver/hardware/catalogue";
import type { MixedModel, SolvedMix } from "@/solver/mix/solveMix";
import { standardError } from "@/solver/numeric/interval";
import { normalQuantile } from "@/solver/numeric/normal";
import { mean, quantile } from "@/solver/numeric/quantile";
import { gpuCount } from "@/solver/plan/clusterGpus";
import { asksForAnything } from "@/solver/plan/constraints";
import type { MixPredictions, ModelDeployment, StagePrediction, UnsealedPlan } from "@/solver/plan/plan";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { classFigures } from "./classFigures";
import { mixNotes } from "./mixNotes";
import type { MixPlanned } from "./mixPlanned";
import type { MixTask } from "./mixTask";
import { ratesOf } from "./simulateMix";

const CONFIDENCE = 0.9;

/** The plan document, before it is sealed. Its figures are those of its own policy, simulated under the mix. */
export function mixDraft(planned: MixPlanned): UnsealedPlan & { readonly policy: JustInTimePolicy } {
  const { task, mixed, ground, solved, deployment, policy, loadFactor, seconds } = planned;
  const { situation, mix, workloadVersion } = task;
  const { workload, workloadId, cluster, constraints, engineProfile = vllmProfile, userCards, judge } = situation;
  const gpus = deployment.reduce((sum, own) => sum + own.gpus, 0);
  const own = ownCards(task, deployment);
  return {
    apiVersion: "weir/v1",
    kind: "Plan",
    metadata: { name: `mix of ${ground.classes.map(({ name }) => name).join(", ")} on ${gpus} x ${cluster.gpu}`.slice(0, 120) },
    deployment: [...deployment],
    policy,
    inputs: {
      workload: {
        ...{ id: workloadId, name: workload.name, requestsPerSecond: callsPerSecond(planned), seed: workload.seed },
        ...(workloadVersion === undefined ? {} : { version: workloadVersion }),
        planningPrompts: mixed.traffic.planning.length,
        sampleRequests: planned.simulated.sample.program.length,
        judge: { kind: workload.judge.kind, auc: workload.judge.kind === "modelled" ? workload.judge.auc : null },
      },
      cluster,
      models: mixed.traffic.outcomes.models.map(({ model }) => model),
      ...(userCards === undefined || !own ? {} : { userCards }),
      engineProfile,
      objective: {
        ...{ kind: "latency-under-quality", latency: "end-to-end", percentile: 95, qualityConfidence: null, latencyBudgetSeconds: null },
        qualityFloor: mix.singles?.qualityFloor ?? null,
        maxGpus: gpuCount(cluster),
      },
      ...(constraints !== undefined && asksForAnything(constraints) ? { constraints } : {}),
      ...(judge?.kind === "fixed" && judge.source !== undefined ? { judgeTime: judge.source } : {}),
      mix: {
        singles: mix.singles,
        workflows: mix.workflows.map(({ workflow, programsPerSecond, qualityFloor }) => ({
          name: workflow.name,
          programsPerSecond,
          qualityFloor,
        })),
        loadFactor,
      },
    },
    predictions: predictionsOf(planned),
    solver: {
      ...{ status: solved.status, gap: null, seconds, engine: solved.solver.engine },
      evaluatedThresholds: ground.classes.reduce((sum, { candidates }) => sum + candidates.length, 0),
      replicaSimulations: ground.models.reduce((sum, { shapes }) => sum + shapes.length, 0),
      why: whyOf(planned),
      alternatives: [],
    },
  };
}

/** Whether a model or a GPU of the plan has a card of the user's. */
function ownCards({ situation: { userCards = noUserCards, cluster } }: MixTask, deployment: readonly ModelDeployment[]): boolean {
  const models = new Set(deployment.map(({ model }) => model));
  const types = new Set([cluster.gpu, ...cluster.nodes.flatMap(({ gpu }) => gpu ?? [])]);
  return (
    userCards.models.some(({ id }) => models.has(id)) ||
    userCards.gpus.some(({ id }) => types.has(id)) ||
    [...types].some((id) => id in userCards.prices)
  );
}

/** Calls a second that reach a gateway: of programs, every agent that is not skipped. */
function callsPerSecond({ mixed, simulated: { outcome } }: MixPlanned): number {
  const answered = outcome.model.reduce((sum, model) => sum + (model >= 0 ? 1 : 0), 0);
  return Number(((ratesOf(mixed.traffic) * answered) / outcome.endToEndSeconds.length).toPrecision(4));
}

function whyOf({ solved, ground }: MixPlanned): string[] {
  const scarce = [...solved.models].sort((a, b) => b.price - a.price)[0];
  const candidates = ground.classes.map(({ name, candidates: own }) => `${own.length} of ${name}`).join(", ");
  return [
    `All rates may rise to ${solved.factor.toFixed(2)} times these until a model is loaded with the load factor; any engines of this cluster were found to carry ${solved.highestFactor.toFixed(2)} times at most.`,
    ...(scarce === undefined || scarce.price === 0
      ? []
      : [`${scarce.model} limits the mix: 1 % more of its capacity lets all rates rise by ${scarce.price.toFixed(2)} %.`]),
    `Chosen by MILP among candidates: ${candidates}.`,
  ];
}

function predictionsOf(planned: MixPlanned): UnsealedPlan["predictions"] {
  const { task, solved, deployment, simulated } = planned;
  const { cluster, engineProfile: profile = vllmProfile } = task.situation;
  const { outcome } = simulated;
  const endToEnd = outcome.endToEndSeconds.filter(Number.isFinite);
  const quality = outcome.quality.filter((own) => !Number.isNaN(own));
  const rate = callsPerSecond(planned);
  const stages = deployment.map(({ model }) => stageOf(planned, model));
  const p95 = statistic(endToEnd, (seconds) => quantile(seconds, 0.95), measuredRequests(ratesOf(planned.mixed.traffic)));
  const costUsdPerHour = usdPerHour(
    deployment.map(({ gpu: own, replicas }) => ({
      groups: replicas,
      replicas: replicas.map(({ gpu = own, tp, pp, count }) => ({ gpu, shape: { tp, pp }, count, requestsPerSecond: 0 })),
    })),
    cluster,
  );
  const half = normalQuantile((1 + CONFIDENCE) / 2) * standardError(quality);
  const gpus = deployment.reduce((sum, own) => sum + own.gpus, 0);
  return {
    quality: mean(quality),
    qualityBand: {
      low: Math.max(0, mean(quality) - half),
      high: Math.min(100, mean(quality) + half),
      confidence: CONFIDENCE,
      basis: `${quality.length} simulated programs and single requests of ${planned.mixed.traffic.planning.length} planning prompts; outcomes of workflows are modelled, and the choice of engines on the same prompts is not allowed for`,
    },
    p95Seconds: p95.seconds,
    p95Band: predictionBand(p95, profile, {
      extrapolated: false,
      nearSaturation: stages.some(({ stability }) => stability === "near-saturation"),
      measured: measuredRequests(ratesOf(planned.mixed.traffic)),
    }),
    meanSeconds: mean(endToEnd),
    largestStageP95Seconds: Math.max(...stages.map((stage) => stage.p95Seconds)),
    costUsdPerRequest: costUsdPerHour / 3600 / rate,
    costUsdPerHour,
    utilisation: deployment.reduce((sum, own) => sum + ((loadOf(solved, own.model)?.load ?? 0) * own.gpus) / gpus, 0),
    stages,
    tableError: 0,
    judgeOutlooks: [],
    mix: mixOf(planned),
    notes: [...mixNotes(planned)],
  };
}

const loadOf = ({ models }: SolvedMix, model: string): MixedModel | undefined => models.find((own) => own.model === model);

/** A model's calls: those that it answered. */
function stageOf(planned: MixPlanned, model: string): StagePrediction {
  const { outcome, sample } = planned.simulated;
  const index = sample.models.indexOf(model);
  const answered = Array.from(outcome.model.keys()).filter((request) => (outcome.model[request] ?? -1) >= 0);
  const own = answered.filter((request) => outcome.model[request] === index);
  const seconds = Float64Array.from(own, (request) => outcome.answerSeconds[request] ?? 0);
  const first = Float64Array.from(own, (request) => outcome.firstTokenSeconds[request] ?? 0);
  const share = own.length / Math.max(1, answered.length);
  const load = loadOf(planned.solved, model)?.load ?? 0;
  return {
    ...{ model, share, startShare: share },
    requestsPerSecond: share * callsPerSecond(planned),
    p95Seconds: own.length === 0 ? 0 : quantile(seconds, 0.95),
    meanSeconds: own.length === 0 ? 0 : mean(seconds),
    ttftP95Seconds: own.length === 0 ? 0 : Math.max(0, quantile(first, 0.95)),
    utilisation: Math.min(1, load),
    stability: stabilityOf(load) === "stable" ? "stable" : "near-saturation",
  };
}

function mixOf({ ground, solved, simulated }: MixPlanned): MixPredictions {
  const { figures } = simulated;
  return {
    factor: solved.factor,
    unserved: figures.unserved,
    classes: classFigures(ground, solved, simulated),
    models: solved.models
      .filter(({ capacityPerSecond }) => capacityPerSecond > 0)
      .map(({ model, load, price }) => ({
        ...{ model, price, load: Math.min(1, load) },
        busyShare: Math.min(1, figures.models.find((own) => own.model === model)?.busyShare ?? 0),
      })),
  };
}
