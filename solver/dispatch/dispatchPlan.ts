import { gpusAllowed } from "@/solver/cascade/deploy/constrainedDeployment";
import { type DeployedStage, loadOf, mainGpu } from "@/solver/cascade/deploy/deployedStage";
import { placeReplicas } from "@/solver/cascade/deploy/placeReplicas";
import { loadText, stageStability } from "@/solver/cascade/deploy/stageStability";
import type { Explorer } from "@/solver/cascade/explore/explorer";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { cardOf, catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { asksForAnything, noConstraints } from "@/solver/plan/constraints";
import type { DispatchDraft, ModelDeployment, NoPlanKind, Objective } from "@/solver/plan/plan";
import { boundText, counted, secondsText } from "@/solver/wording/wording";
import type { Workload } from "@/solver/workload/workload";
import { dispatchPoints } from "./chooseDispatch";
import type { DispatchAllocation } from "./dispatchExploration";
import { dispatchNotes } from "./dispatchNotes";
import { dispatchPolicy } from "./dispatchPolicy";
import { dispatchPredictions } from "./dispatchPredictions";
import { dispatchRefusal, type NoDispatch } from "./dispatchRefusal";
import { everything, maxInFlight } from "./dispatchRun";
import { type ExploreDispatch, gather, type SimulatedPoint } from "./exploreDispatch";
import { searchDispatch, type VerifiedDispatch } from "./searchDispatch";
import { tauSteps } from "./tauSteps";

/** A planning request for slack dispatch. */
export interface PlanDispatchInput extends PlanningSituation {
  readonly explorer: Explorer;
  readonly objective: Objective;
  /** Latency from which the slack counts where several kinds of policies are compared; left out: that of the fastest slack dispatch. */
  readonly slackFromSeconds?: number;
  /** null: chosen too. */
  readonly tau: number | null;
  /** The points on the GPUs that a plan may use; see `exploreDispatch`. */
  readonly explored: (input: ExploreDispatch) => readonly SimulatedPoint[];
  readonly elapsedSeconds: () => number;
}

export type BuiltDispatch =
  | { readonly outcome: "plan"; readonly draft: DispatchDraft }
  | {
      readonly outcome: "infeasible";
      readonly kind: NoPlanKind | NoDispatch["kind"];
      readonly reason: string;
      readonly bestQuality: number | null;
      readonly bestLatencySeconds: number | null;
    };

/** The inputs of an exploration of slack dispatch for a request. */
export const dispatchInput = (
  {
    explorer,
    workload,
    cluster,
    constraints = noConstraints,
    confidence,
  }: Omit<PlanDispatchInput, "objective" | "tau" | "explored" | "elapsedSeconds">,
  maxGpus: number,
): ExploreDispatch => ({
  explorer,
  workload: confidence === undefined ? withoutRouterScores(workload) : workload,
  maxGpus: gpusAllowed(cluster, constraints, maxGpus),
  trained: confidence !== undefined,
  progress: (done, of) => explorer.input.progress?.({ phase: "dispatching", done, of }),
});

/**
 * Plans slack dispatch (Chimera): the division of GPUs between models and the tau that are best on the objective, found by simulation on the
 * planning prompts, placed on nodes, and simulated whole like a cascade. The plan's predictions are the results of that simulation.
 */
export function planDispatch(input: PlanDispatchInput): BuiltDispatch {
  const { explorer, objective, tau } = input;
  const refusal = dispatchRefusal(input, explorer);
  if (refusal !== null) return { outcome: "infeasible", ...refusal, bestQuality: null, bestLatencySeconds: null };
  const exploring = dispatchInput(input, objective.maxGpus);
  const explored = input.explored(exploring);
  const { slackFromSeconds } = input;
  const knobs = { ...objective, maxGpus: exploring.maxGpus, ...(slackFromSeconds === undefined ? {} : { slackFromSeconds }) };
  const verified = searchDispatch(exploring, explored, knobs, tau);
  if (verified === null) return unreachable(exploring, explored, { objective, tau });
  const deployment = deploy(input, verified);
  if (deployment === null)
    return {
      outcome: "infeasible",
      kind: "no-room",
      reason: "The replicas of slack dispatch do not fit the nodes.",
      bestQuality: null,
      bestLatencySeconds: null,
    };
  const profile = input.engineProfile ?? vllmProfile;
  const overloaded = deployment.find((stage) => stageStability(stage, profile) === "unstable");
  if (overloaded !== undefined)
    return {
      ...{ outcome: "infeasible", kind: "overloaded", bestQuality: null, bestLatencySeconds: null },
      reason: `Unstable: ${loadText(overloaded, profile)}, so its queue may grow without end. Add GPUs or lower the rate.`,
    };
  return { outcome: "plan", draft: draftOf(input, exploring, { verified, deployment }) };
}

/** A modelled router of direct starts is no predictor of confidence. */
function withoutRouterScores(workload: Workload): Workload {
  const models = workload.outcomes.models.map(({ routerScore: _, ...own }) => own);
  return { ...workload, outcomes: { ...workload.outcomes, models } };
}

/** Why there is no plan, with what can be reached. */
function unreachable(
  exploring: ExploreDispatch,
  explored: readonly SimulatedPoint[],
  { objective, tau }: { readonly objective: Objective; readonly tau: number | null },
): BuiltDispatch {
  const points = dispatchPoints(gather(exploring, explored), { ...objective, maxGpus: exploring.maxGpus }, tau);
  const promised = objective.qualityConfidence === null ? points.map(({ quality }) => quality) : points.map(({ qualityLow }) => qualityLow);
  const at = tau === null ? "" : ` with a tau of ${tau}`;
  const rate = `${exploring.explorer.input.requestsPerSecond} requests/s on ${counted(exploring.maxGpus, "GPU")}${at}`;
  if (points.length === 0)
    return {
      outcome: "infeasible",
      kind: "overloaded",
      reason: `No division of the GPUs between models sustains ${rate}: add GPUs or lower the rate.`,
      bestQuality: null,
      bestLatencySeconds: null,
    };
  const bestQuality = Math.max(...promised);
  const bestLatencySeconds = Math.min(...points.map(({ latencySeconds }) => latencySeconds));
  const { qualityFloor, latencyBudgetSeconds } = objective;
  if (qualityFloor !== null && bestQuality < qualityFloor)
    return {
      ...{ outcome: "infeasible", kind: "quality-floor", bestQuality, bestLatencySeconds },
      reason: `Slack dispatch reaches a quality of ${boundText(bestQuality)} at most at ${rate}, under the floor of ${qualityFloor}.`,
    };
  const late = latencyBudgetSeconds !== null && bestLatencySeconds > latencyBudgetSeconds;
  return {
    ...{ outcome: "infeasible", kind: late ? "latency-budget" : "floor-and-budget", bestQuality, bestLatencySeconds },
    reason: late
      ? `Slack dispatch takes ${secondsText(bestLatencySeconds)} at least at ${rate}, over the budget of ${secondsText(latencyBudgetSeconds)}.`
      : `No slack dispatch that was simulated whole keeps ${latencyBudgetSeconds === null ? "the floor" : "floor and budget together"} at ${rate}.`,
  };
}

/** Key of the replicas of one shape of a model, for their placement. */
const groupKey = (position: number, group: number): number => position * 64 + group;

/** The models' replicas on nodes: on those where they run, if the topology is given. null where they do not fit. */
function deploy(
  { explorer, cluster, running = [] }: PlanDispatchInput,
  { allocation, run }: VerifiedDispatch,
): readonly DeployedStage[] | null {
  const { sample, requestsPerSecond, fixedTopology } = explorer.input;
  const wanted = allocation.replicas.flatMap((own, position) =>
    own.flatMap(({ shape, count }, group) => Array.from({ length: count }, () => ({ key: groupKey(position, group), shape }))),
  );
  const placed = fixedTopology === undefined ? placeReplicas(wanted, cluster.nodes) : standingPlaces(explorer, allocation, running);
  if (placed === null) return null;
  return allocation.models.map((model, position): DeployedStage => {
    const { capacity } = explorer.tables.exact(model, everything(explorer.input), (one) =>
      (allocation.replicas[position] ?? []).some(({ shape }) => shape === one.shape),
    );
    const rate = requestsPerSecond * (run.share[position] ?? 0);
    const counts = allocation.replicas[position] ?? [];
    const saturationOf = ({ shape, gpu }: (typeof counts)[number]): number =>
      loadOf(capacity, [{ gpu, shape, count: 1, requestsPerSecond: 0 }], 0).saturationRequestsPerSecond;
    const all = counts.reduce((sum, one) => sum + one.count * saturationOf(one), 0);
    const replicas = counts.map((one) => ({ ...one, requestsPerSecond: (rate * saturationOf(one)) / all }));
    const groups = counts.map((one, group) => ({
      ...one.shape,
      count: one.count,
      shareEach: saturationOf(one) / all,
      maxInFlight: maxInFlight(explorer, model, one),
      placements: placed.filter(({ key }) => key === groupKey(position, group)).map(({ placements }) => [...placements]),
    }));
    return {
      model: sample.models[model] ?? "",
      replicas,
      tableSeconds: 0,
      gpus: allocation.gpus[position] ?? 0,
      groups,
      ...loadOf(capacity, replicas, rate),
    };
  });
}

function standingPlaces(
  { input: { sample } }: Pick<Explorer, "input">,
  { models, replicas }: DispatchAllocation,
  running: NonNullable<PlanningSituation["running"]>,
) {
  return models.flatMap((model, position) =>
    (replicas[position] ?? []).flatMap(({ shape }, group) =>
      running
        .filter((own) => own.model === sample.models[model] && own.shape.tp === shape.tp && own.shape.pp === shape.pp)
        .map(({ placements }) => ({ key: groupKey(position, group), placements })),
    ),
  );
}

function draftOf(
  input: PlanDispatchInput,
  exploring: ExploreDispatch,
  { verified, deployment }: { readonly verified: VerifiedDispatch; readonly deployment: readonly DeployedStage[] },
): DispatchDraft {
  const { explorer, workload, workloadId, cluster, objective, constraints = noConstraints, running = [], confidence } = input;
  const { userCards = noUserCards, engineProfile: profile = vllmProfile } = input;
  const cards = catalogueOf(userCards);
  const { allocation, point, run } = verified;
  const saturation = deployment.map(({ saturationRequestsPerSecond }) => saturationRequestsPerSecond);
  const { steps, range } = tauSteps(exploring, verified, { objective, saturation });
  const names = deployment.map(({ model }) => model);
  const gpus = deployment.reduce((sum, own) => sum + own.gpus, 0);
  const notes = dispatchNotes({ workload, profile, trained: exploring.trained, deployment });
  return {
    apiVersion: "weir/v1",
    kind: "Plan",
    metadata: { name: `${names.join(" or ")} within slack ${point.tau} on ${gpus} x ${cluster.gpu}` },
    deployment: deployment.map((own): ModelDeployment => {
      const gpu = mainGpu(own.replicas);
      return {
        model: own.model,
        precision: cardOf(cards.models, own.model)?.precision ?? "bf16",
        gpu,
        gpus: own.gpus,
        replicas: own.groups,
      };
    }),
    policy: dispatchPolicy({ explorer, allocation }, { tau: point.tau, range, learnt: confidence?.artefact }),
    inputs: {
      workload: {
        id: workloadId,
        name: workload.name,
        requestsPerSecond: explorer.input.requestsPerSecond,
        planningPrompts: explorer.input.sample.prompts,
        sampleRequests: run.outcome.endToEndSeconds.length,
        seed: workload.seed,
        judge: { kind: workload.judge.kind, auc: workload.judge.kind === "modelled" ? workload.judge.auc : null },
      },
      cluster,
      models: [...explorer.input.sample.models],
      engineProfile: profile,
      objective,
      ...(asksForAnything(constraints) ? { constraints } : {}),
      ...(running.length > 0 ? { running: [...running] } : {}),
    },
    predictions: dispatchPredictions({ explorer, cluster, profile, cards, verified, deployment, steps }, notes),
    solver: {
      status: "feasible",
      gap: null,
      seconds: input.elapsedSeconds(),
      engine: "simulation",
      evaluatedThresholds: verified.simulated,
      replicaSimulations: explorer.tables.simulations(),
      why: [
        `${counted(verified.simulated, "setting")} of GPUs and tau were simulated; this is the best of them, and no proof that none is better.`,
      ],
      alternatives: [],
    },
  };
}
