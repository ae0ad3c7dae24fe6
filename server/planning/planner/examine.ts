import type { BaselineFigures, Examination, ExaminedKind, HeldOutFigures, SensitivityCase } from "@/server/contracts/studio";
import { allBaselines, countOfBaselines, MODELLED_ROUTER, ORACLE } from "@/solver/baselines/allBaselines";
import { figuresOf } from "@/solver/baselines/baselineFigures";
import { type System, systemOf } from "@/solver/baselines/system";
import { type Constrained, gpusAllowed, isConstrained } from "@/solver/cascade/deploy/constrainedDeployment";
import type { Explorer } from "@/solver/cascade/explore/explorer";
import { addReached, latencyOnGpus } from "@/solver/cascade/explore/fixedDeployment";
import type { BuiltPlan } from "@/solver/cascade/plan/planInput";
import { type ConstraintPrice, constrainedPrices } from "@/solver/cascade/whatIf/constrainedPrices";
import { type GpuPrice, pricesOfGpus, pricesOfQuality, relativeOn } from "@/solver/cascade/whatIf/prices";
import { PERTURBATIONS, type Perturbation, type PerturbedCascade, sensitivityTo } from "@/solver/cascade/whatIf/sensitivity";
import type { MilpEngine } from "@/solver/milp/engine";
import { cascadeRoutingText } from "@/solver/nextModel/cascadeRoutingDocument";
import { gpuOfNode, gpuTypes } from "@/solver/plan/clusterGpus";
import { noConstraints } from "@/solver/plan/constraints";
import type { Objective, PlanDraft } from "@/solver/plan/plan";
import { gatePeersOf, judgeEngineOf } from "@/solver/plan/policySchema";
import { withGateScores } from "@/solver/stageGates/stageGate";
import { drawSample } from "@/solver/workload/sample";
import { splitPrompts } from "@/solver/workload/split";
import type { OutcomeTable, Workload } from "@/solver/workload/workload";

/** A plan with its explorer. */
export interface Examined {
  readonly explorer: Explorer;
  readonly draft: PlanDraft;
  readonly workload: Workload;
  /** Rows of the workload's outcomes that were used for planning. */
  readonly planning: Int32Array;
  /** The outcomes with a trained predictor's out-of-fold scores; else why there are none, in a sentence. */
  readonly trained: OutcomeTable | string;
  /** Plans cascade routing for the situation on an objective, with the gates that the plan was chosen among. */
  readonly byGain: (objective: Objective) => BuiltPlan;
  /** Whether the thresholds were set manually. */
  readonly fixed: boolean;
  readonly engine: MilpEngine;
  /** A clock for the engine's time limit. */
  readonly elapsedSeconds: () => number;
}

/** Answers one question about a plan; a sentence if it cannot be answered. */
export function examine(kind: ExaminedKind, examined: Examined): Examination | string {
  if (kind === "prices") return examinePrices(examined);
  if (kind === "sensitivity") return examineSensitivity(examined);
  return examineBaselines(examined);
}

/**
 * The benefit of more hardware and of another floor. The tables give the ratio of the latencies; the figures are the plan's own latency,
 * simulated whole, times that ratio.
 */
function examinePrices(examined: Examined): Examination {
  const { draft, fixed } = examined;
  const { objective } = draft.inputs;
  const latencySeconds = latencyOf(draft);
  const seconds = (relativeLatency: number | null) => (relativeLatency === null ? null : latencySeconds * relativeLatency);
  tell(examined, 0, 2);
  const { gpus, constraints } = hardwarePrices(examined);
  tell(examined, 1, 2);
  // A floor does not affect manually set thresholds, and with the objective of lowest cost it changes the cost.
  const quality = fixed || objective.kind === "cost-under-both" ? [] : pricesOfQuality(constrainedInput(examined), objective);
  return {
    kind: "prices",
    latencySeconds,
    qualityFloor: objective.qualityFloor,
    gpus: gpus.map(({ gpu, more, relativeLatency }) => ({ gpu, more, latencySeconds: seconds(relativeLatency) })),
    quality: quality.map(({ points, relativeLatency }) => ({ points, latencySeconds: seconds(relativeLatency) })),
    constraints: constraints.map(({ says, relativeLatency }) => ({ says, latencySeconds: latencySeconds * relativeLatency })),
  };
}

/** The input of deployments for the plan's situation. */
function constrainedInput({ explorer, draft, engine, elapsedSeconds }: Examined): Constrained {
  const { cluster, constraints = noConstraints, running = [], objective } = draft.inputs;
  return { explorer, cluster, objective, constraints, running, engine, elapsedSeconds };
}

/** Prices of GPUs and of constraints: by GPU counts if there are no other constraints, else by another deployment. */
function hardwarePrices(examined: Examined): { readonly gpus: readonly GpuPrice[]; readonly constraints: readonly ConstraintPrice[] } {
  const input = constrainedInput(examined);
  const { explorer, cluster, constraints, running, objective } = input;
  const { draft } = examined;
  const { stages, thresholds, startBelow } = cascadeOf(examined);
  const routing = explorer.add(stages, thresholds, startBelow);
  const types = gpuTypes(cluster).map((gpu) => ({
    gpu,
    nodeGpus: Math.max(...cluster.nodes.filter((node) => gpuOfNode(cluster, node) === gpu).map((node) => node.gpus)),
  }));
  const maxGpus = gpusOf(draft);
  if (isConstrained({ cluster, constraints, running })) {
    const asked = objective.kind === "cost-under-both" ? { ...objective, maxGpus } : objective;
    return constrainedPrices({ ...input, objective: asked }, routing, types);
  }
  const on = { gpus: maxGpus, latency: objective.latency };
  const capped = (["maxUsdPerHour", "maxGpus"] as const).flatMap((cap): ConstraintPrice[] => {
    const other = gpusAllowed(cluster, { ...constraints, [cap]: null }, objective.maxGpus);
    const relativeLatency = other > maxGpus ? relativeOn(explorer, routing, { ...on, other }) : null;
    const unit = cap === "maxGpus" ? "GPUs" : "USD/hour";
    return relativeLatency === null ? [] : [{ says: `at most ${constraints[cap]} ${unit}`, relativeLatency }];
  });
  return { gpus: pricesOfGpus(explorer, routing, { ...on, types }), constraints: objective.kind === "cost-under-both" ? [] : capped };
}

/** The plan under deviations from its assumptions. Latencies are corrected by the tables' error on the plan's own. */
function examineSensitivity(examined: Examined): Examination | string {
  const { explorer, draft } = examined;
  const { cluster, constraints = noConstraints, running = [] } = draft.inputs;
  if (isConstrained({ cluster, constraints, running })) {
    return "Plans for other rates and judges are made by counting GPUs of one type, and this plan keeps constraints on replicas or has several types.";
  }
  const knobs = allowed(draft);
  const cascade = cascadeOf(examined);
  explorer.search();
  const routing = explorer.routing(addReached(explorer, cascade.stages, cascade.thresholds, cascade.startBelow));
  const correction = latencyOf(draft) / latencyOnGpus(routing, cascade.gpus, knobs.latency);
  const figures = ({ latencySeconds, quality }: PerturbedCascade) => ({
    latencySeconds: Number.isFinite(latencySeconds) ? correction * latencySeconds : null,
    quality,
  });
  const cases = PERTURBATIONS.map((perturbation, done): SensitivityCase => {
    tell(examined, done, PERTURBATIONS.length);
    const { kept, replanned, keeps, routingChanges, deploymentChanges } = sensitivityTo(perturbation, explorer.input, {
      knobs,
      plan: cascade,
    });
    return {
      says: saysOf(perturbation, explorer.input.gates === undefined ? "judge" : "gate"),
      keeps,
      routingChanges,
      deploymentChanges,
      kept: figures(kept),
      replanned: replanned === null ? null : figures(replanned),
    };
  });
  return { kind: "sensitivity", cases };
}

/**
 * The baselines at the plan's rate on the same number of GPUs, with its floor (without one, the quality it promises), each simulated whole
 * under the requests of the plan's simulation, and again, like the plan, on the prompts held out from planning. Cascades among them have the
 * plan's gates, with the engines and calls that these take.
 */
function examineBaselines(examined: Examined): Examination | string {
  const { explorer: searched, draft, workload, planning, trained } = examined;
  const { cluster, objective, workload: simulated } = draft.inputs;
  const types = gpuTypes(cluster);
  if (types.length > 1) return `Baselines are planned on one GPU type, and this cluster has ${types.join(" and ")}.`;
  const { gates } = searched.input;
  searched.search();
  // Tables by GPU count are also valid for fewer GPUs.
  const explorer = { ...searched, input: { ...searched.input, maxGpus: gpusOf(draft) } };
  const { requestsPerSecond, seed } = explorer.input;
  const floor = objective.qualityFloor ?? draft.predictions.qualityBand.low;
  // With the plan's own gates, so that a baseline lacks nothing that the plan has.
  const outcomes = gates === undefined ? workload.outcomes : withGateScores(workload, gates.stages);
  const situation = { explorer, floor, nodes: cluster.nodes, outcomes, planning, trained };
  const sample = drawSample(workload, { part: "planning", requestsPerSecond, requests: simulated.sampleRequests, seed });
  const unseen = {
    situation: { ...situation, planning: splitPrompts(workload.outcomes.promptIds.length, workload.seed).heldOut },
    sample: drawSample(workload, { part: "heldOut", requestsPerSecond, requests: simulated.sampleRequests, seed }),
    latency: objective.latency,
  };
  const heldOut = (system: System): HeldOutFigures => {
    const { quality, latencySeconds } = figuresOf(system, unseen);
    return { quality, latencySeconds };
  };
  const systems: BaselineFigures[] = [];
  const refused: { name: string; reason: string }[] = [];
  let done = 0;
  const count = countOfBaselines(explorer.input.sample.models.length) + 1;
  tell(examined, done, count);
  for (const { kind, baseline } of allBaselines(situation, cascadeOf(examined))) {
    if (baseline.outcome === "none") refused.push({ name: baseline.name, reason: baseline.reason });
    else {
      const { system } = baseline;
      systems.push({
        name: system.name,
        attainable: kind !== ORACLE && kind !== MODELLED_ROUTER,
        ...figuresOf(system, { situation, sample, latency: objective.latency }),
        heldOut: heldOut(system),
      });
    }
    done += 1;
    tell(examined, done, count);
  }
  const planned = gainBaseline(examined.byGain({ ...objective, qualityFloor: floor, maxGpus: gpusOf(draft) }), objective);
  if ("reason" in planned) refused.push(planned);
  else systems.push(planned);
  tell(examined, count, count);
  return {
    kind: "baselines",
    planHeldOut: heldOut(systemOf(draft, outcomes, { gates: gates?.stages, withJudge: true })),
    systems,
    refused,
  };
}

/** Cascade routing as a baseline: its own plan's figures, simulated as the plan's are. */
function gainBaseline(built: BuiltPlan, { latency }: Objective): BaselineFigures | { readonly name: string; readonly reason: string } {
  const name = "cascade routing";
  if (built.outcome === "infeasible") return { name, reason: built.reason };
  const { policy, predictions, deployment } = built.draft;
  return {
    name,
    attainable: policy.directStart?.router.kind === "trained",
    cascade: cascadeRoutingText(policy),
    deployed: policy.stages.map(({ model }) => ({
      model,
      replicas: (deployment.find((own) => own.model === model)?.replicas ?? []).map(({ tp, pp, count }) => ({ shape: { tp, pp }, count })),
    })),
    routing: null,
    policy: "cascade-routing",
    quality: predictions.quality,
    qualityLow: predictions.qualityBand.low,
    latencySeconds: latency === "end-to-end" ? predictions.p95Seconds : predictions.largestStageP95Seconds,
    gpus: deployment.reduce((sum, own) => sum + own.gpus, 0),
    costUsdPerRequest: predictions.costUsdPerRequest,
    heldOut: null,
  };
}

/** The plan's cascade in the explorer's indices, followed by the GPUs of each stage, of a judge's engine and of peers. */
function cascadeOf({ explorer, draft: { policy, deployment } }: Examined) {
  const { models } = explorer.input.sample;
  const judged = judgeEngineOf(policy) !== null;
  return {
    stages: policy.stages.map(({ model }) => models.indexOf(model)),
    thresholds: policy.thresholds,
    startBelow: policy.directStart?.below ?? 0,
    gpus: [...policy.stages.map(({ model }) => model), ...(judged ? [policy.judge.model] : []), ...gatePeersOf(policy)].map(
      (model) => deployment.find((own) => own.model === model)?.gpus ?? 0,
    ),
  };
}

/** The objective with the GPUs that constraints leave of the requested ones. */
const allowed = ({ inputs: { objective, cluster, constraints = noConstraints } }: PlanDraft): Objective => ({
  ...objective,
  maxGpus: gpusAllowed(cluster, constraints, objective.maxGpus),
});

/** GPUs available to the plan: all that were allowed, or with the objective of lowest cost those it has. */
const gpusOf = (draft: PlanDraft): number =>
  draft.inputs.objective.kind === "cost-under-both" ? draft.deployment.reduce((sum, { gpus }) => sum + gpus, 0) : allowed(draft).maxGpus;

const latencyOf = ({ inputs: { objective }, predictions }: PlanDraft): number =>
  objective.latency === "end-to-end" ? predictions.p95Seconds : predictions.largestStageP95Seconds;

const tell = ({ explorer }: Examined, done: number, of: number): void => explorer.input.progress?.({ phase: "examining", done, of });

function saysOf(perturbation: Perturbation, scorer: "judge" | "gate"): string {
  const percent = Math.round(100 * Math.abs(perturbation.factor - 1));
  if (perturbation.kind === "rate") return `${percent} % ${perturbation.factor > 1 ? "more" : "fewer"} requests`;
  return `a ${scorer} that scores ${percent} % lower and scatters by ${perturbation.noisePoints} points more`;
}
