import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { cardOf, catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { asksForAnything, noConstraints } from "@/solver/plan/constraints";
import type { ModelDeployment, Objective, PlanDraft } from "@/solver/plan/plan";
import { secondsText } from "@/solver/wording/wording";
import { costUsdPerRequest } from "../choose/allocate";
import { candidatesFor, choose, meeting, nearMisses } from "../choose/choose";
import { slackApplies } from "../choose/slackChoice";
import { constrainedCandidates } from "../deploy/constrainedCandidates";
import { gpusAllowed, isConstrained } from "../deploy/constrainedDeployment";
import type { FinalistInput, ToDeploy } from "../deploy/deployed";
import { type DeployedStage, gpusByType, mainGpu, usdPerHour } from "../deploy/deployedStage";
import { deployFinalist, type Finalist } from "../deploy/finalist";
import { loadText, stageStability } from "../deploy/stageStability";
import type { Candidate, Choice, Exploration, Knobs } from "../explore/exploration";
import type { Explorer } from "../explore/explorer";
import { addReached, type FixedRouting } from "../explore/fixedDeployment";
import { judgeOf } from "../explore/situation";
import { judgementsOf } from "../routing/routing";
import { hostedUsdPerHour } from "../tables/hostedStages";
import { bothWays } from "./alternation";
import { alternationReport } from "./alternationReport";
import { alternativesTo } from "./alternatives";
import type { BuildPlanInput, BuiltPlan, CompleteInput, NoPlan, Planned } from "./planInput";
import { deployedRouting, planPolicy } from "./planPolicy";
import { planPredictions } from "./planPredictions";
import { shapeReasons } from "./shapeReasons";
import { planWithSlack } from "./slackPlan";
import { slackSteps } from "./slackSteps";
import { verifiedBest } from "./verifiedBest";
import { whyNoPlan } from "./whyNoPlan";

/**
 * From an exploration to a plan. Searches directly, also alternates as the source does, and chooses by the tables from the routings of
 * both. Deploys the choice, simulates it whole, and continues with the next best while one promises more than the best
 * verified one (tables are approximate; a plan is not). Under constraints candidates are deployed by the tables before the choice.
 * The plan's predictions are the results of the whole simulation.
 */
export function buildPlan(asked: BuildPlanInput): BuiltPlan {
  const { objective, fixed } = asked;
  const built = fixed === null && slackApplies(objective) ? planWithSlack(asked, planned) : planned(asked, objective);
  return built.outcome === "plan" ? { outcome: "plan", draft: built.draft } : built;
}

/** @param recorded the objective of the plan where that of `asked` is a step on the way to it. */
function planned(asked: BuildPlanInput, recorded: Objective): Planned | NoPlan {
  let built = plannedOnce(asked, recorded);
  const { objective, fixed, constraints = noConstraints, running = [] } = asked;
  if (objective.kind !== "cost-under-both" || fixed !== null || !isConstrained({ ...asked, constraints, running })) return built;
  // The cheapest routing to deploy is not known beforehand: so the cost is capped below the cost found, until nothing meets the cap.
  for (let round = 0; round < CHEAPER_ROUNDS && built.outcome === "plan"; round += 1) {
    const maxUsdPerHour = CHEAPER * built.draft.predictions.costUsdPerHour;
    const { explorerUnder: _, ...silent } = asked;
    const cheaper = plannedOnce({ ...silent, constraints: { ...constraints, maxUsdPerHour } }, recorded);
    if (cheaper.outcome === "infeasible") break;
    const { inputs } = cheaper.draft;
    built = { ...cheaper, draft: { ...cheaper.draft, inputs: { ...inputs, ...built.draft.inputs } } };
  }
  return built;
}

/** Number of rounds in which a cheaper plan is searched for, and the share of the cost that caps it. */
const CHEAPER_ROUNDS = 6;

const CHEAPER = 0.97;

/** Alternatives are told apart by their thresholds, which say little of a routing by expected gain. */
const NO_ALTERNATIVES: ReturnType<typeof alternativesTo> = { why: [], list: [] };

function plannedOnce(asked: BuildPlanInput, recorded: Objective): Planned | NoPlan {
  const { explorer, objective, fixed, constraints = noConstraints, running = [] } = asked;
  const input: CompleteInput = {
    ...asked,
    judge: judgeOf(asked),
    judgeTime: asked.judge?.kind === "fixed" ? asked.judge.source : undefined,
    cards: catalogueOf(asked.userCards ?? noUserCards),
    profile: asked.engineProfile ?? vllmProfile,
    constraints,
    running,
  };
  explorer.search();
  if (fixed === null) explorer.focus({ floor: objective.qualityFloor, budgetSeconds: objective.latencyBudgetSeconds });
  const allowed: Knobs = { ...objective, slack: undefined, maxGpus: gpusAllowed(input.cluster, constraints, objective.maxGpus) };
  // The source alternates for latency and for quality, with no engines but those of the stages; it has no cost objective and no constraints.
  const stagesAlone = input.judge.engine === undefined && (explorer.input.gates?.peers ?? []).length === 0;
  const alternates =
    explorer.input.hosted === undefined &&
    fixed === null &&
    !explorer.byGain &&
    objective.kind !== "cost-under-both" &&
    stagesAlone &&
    !isConstrained(input);
  const ways = alternates ? bothWays(explorer, allowed) : null;
  const index = fixed === null ? null : addReached(explorer, fixed.stages, fixed.thresholds, fixed.startBelow);
  const exploration = explorer.exploration();
  const knobs = index === null ? allowed : byHand(exploration, index, allowed);
  const choice = choose(exploration, knobs);
  const pool = index === null ? choice.candidates : choice.candidates.filter((candidate) => candidate.routing === index);
  const [within, over] = index === null ? [meeting(pool, knobs), nearMisses(pool, knobs)] : [pool, []];
  const constrained = isConstrained(input) ? constrainedCandidates(input, { within, over }, knobs) : null;
  let unstable: string | null = null;
  let deployments = 0;
  const { finalist, verified } = verifiedBest({
    exploration,
    // Shared tables may refuse a routing that its own tables, with the running shapes, just allow.
    pool:
      constrained === null
        ? pool
        : constrained.candidates.length + constrained.misses.length > 0
          ? [...constrained.candidates, ...constrained.misses]
          : constrained.refused.slice(0, 1),
    knobs,
    resized: constrained === null,
    deploy,
    cost: (one) => costOf(input, one),
  });
  if (finalist === null) return whyNoPlan(input, { choice, byHand: index, constrained, unstable, verified });
  const alternatives = explorer.byGain
    ? NO_ALTERNATIVES
    : alternativesTo({
        exploration,
        candidates: constrained === null ? choice.candidates : constrained.candidates,
        ...(constrained === null ? {} : { undeployed: { candidates: choice.candidates, refused: constrained.refused } }),
        knobs: { ...objective, maxGpus: knobs.maxGpus },
        finalist,
        verified,
      });
  const why = {
    // When the cost is minimised, the figures of the binding limits are those without constraints.
    limits: index !== null || (constrained !== null && objective.kind === "cost-under-both") ? [] : whatBinds(choice, knobs, finalist),
    says: [
      ...(fixed === null ? [] : saysUnreached(explorer, fixed, finalist)),
      ...(constrained === null ? [] : saysOfConstraints(input, pool, finalist)),
      ...(constrained?.cut ? ["Not every routing was deployed under the constraints: there were too many that promised as much."] : []),
      ...finalist.says,
    ],
    alternatives: alternatives.why,
  };
  const toRecord = { ...input, objective: recorded };
  const draft: PlanDraft = {
    apiVersion: "weir/v1",
    kind: "Plan",
    metadata: { name: planName(finalist) },
    deployment: ownStages(finalist).map((stage) => modelDeployment(input, stage)),
    policy: planPolicy(toRecord, finalist.routing, finalist),
    inputs: planInputs(toRecord, finalist),
    predictions: planPredictions(toRecord, finalist),
    solver: {
      ...finalist.proof,
      seconds: input.elapsedSeconds(),
      evaluatedThresholds: exploration.routings.length,
      replicaSimulations: explorer.tables.simulations(),
      why: [...why.limits, ...why.says, ...why.alternatives],
      shapes: shapeReasons(explorer, input.cluster, finalist),
      ...(ways === null ? {} : { alternation: alternationReport(explorer, ways, { routing: finalist.routing, knobs: objective }) }),
      alternatives: alternatives.list,
    },
  };
  const { thresholds: ranges } = draft.policy.approvedRanges;
  const slack = explorer.byGain ? null : slackSteps(explorer, deployedRouting(toRecord, finalist), ranges);
  const predictions = slack === null ? draft.predictions : { ...draft.predictions, slack };
  return { outcome: "plan", heldSeconds: finalist.heldSeconds, why, draft: { ...draft, predictions } };

  function deploy(next: ToDeploy): Finalist | null {
    const done = (constrained?.tried ?? 0) + deployments;
    deployments += 1;
    const progress: FinalistInput["progress"] = (phase) => explorer.input.progress?.({ phase, done, of: null });
    const deployed = deployFinalist({ ...input, progress, policyOf: (routing) => planPolicy(input, routing, null) }, next);
    if (deployed === null || deployed === "refused") return null;
    const overloaded = [...deployed.deployment, ...deployed.kept].find((stage) => stageStability(stage, input.profile) === "unstable");
    if (overloaded === undefined) return deployed;
    unstable = `Unstable: ${loadText(overloaded, input.profile)}, so its queue may grow without end. Add GPUs or lower the rate.`;
    return null;
  }
}

/**
 * A routing set by hand is planned as it is: a missed floor or budget is reported, not enforced. For the lowest cost it gets the fewest
 * GPUs that meet the budget, and all GPUs where no number does.
 */
function byHand(exploration: Exploration, index: number, knobs: Knobs): Knobs {
  const sized: Knobs = { ...knobs, qualityFloor: null };
  const keeps = (candidatesFor(exploration, sized)[index]?.latencySeconds ?? 0) <= (knobs.latencyBudgetSeconds ?? Number.MAX_VALUE);
  if (knobs.kind === "cost-under-both" && keeps) return sized;
  return { ...sized, kind: "latency-under-quality", latencyBudgetSeconds: null };
}

/** What limits the plan; for a plan that the tables alone would not have allowed, that the simulation allowed it. */
function whatBinds({ candidates, binds }: Choice, knobs: Knobs, { routing, tableSeconds, verifiedSeconds }: Finalist): string[] {
  if (!nearMisses(candidates, knobs).some((candidate) => candidate.routing === routing)) return binds === null ? [] : [binds];
  return [
    `The latency budget binds: the tables alone promise ${secondsText(tableSeconds)}, simulated whole it takes ${secondsText(verifiedSeconds)}.`,
  ];
}

function saysOfConstraints({ constraints }: Pick<FinalistInput, "constraints">, pool: readonly Candidate[], finalist: Finalist): string[] {
  const free = pool.find(({ routing }) => routing === finalist.routing)?.latencySeconds ?? Number.POSITIVE_INFINITY;
  if (!asksForAnything(constraints) || finalist.tableSeconds <= 1.01 * free) return [];
  return [
    `By the tables these thresholds take ${secondsText(finalist.tableSeconds)} under the constraints and ${secondsText(free)} without them.`,
  ];
}

/** Stages of a cascade set by hand that no request reaches; they have no latency and are left out. */
function saysUnreached({ input: { sample } }: Explorer, { stages }: FixedRouting, { deployment }: Finalist): string[] {
  const unreached = stages.flatMap((stage) => sample.models[stage] ?? []).filter((model) => deployment.every((own) => own.model !== model));
  return unreached.length === 0 ? [] : [`At these thresholds no request reaches ${unreached.join(", ")}: the plan is of the other stages.`];
}

/** USD per request of the deployment, including models that are kept without being a stage, and judge calls. */
function costOf({ explorer, cluster }: Pick<CompleteInput, "explorer" | "cluster">, { routing, deployment, kept }: Finalist): number {
  const { requestsPerSecond, judge } = explorer.input;
  const { routed, thresholds } = explorer.routing(routing);
  const judgements = judgementsOf(routed, thresholds);
  const usd = usdPerHour([...deployment, ...kept], cluster) + hostedUsdPerHour(explorer.input, explorer.routing(routing));
  return costUsdPerRequest({ gpus: 1, usdPerGpuHour: usd, requestsPerSecond, judgements, judge });
}

function modelDeployment({ cards }: Pick<CompleteInput, "cards">, { model, gpus, replicas, groups }: DeployedStage): ModelDeployment {
  return { model, precision: cardOf(cards.models, model)?.precision ?? "bf16", gpu: mainGpu(replicas), gpus, replicas: groups };
}

/** The stages that the cluster runs. */
const ownStages = ({ deployment, kept }: Finalist): readonly DeployedStage[] =>
  [...deployment, ...kept].filter(({ hosted }) => hosted === undefined);

function planName({ deployment, kept }: Finalist): string {
  const gpus = [...gpusByType([...deployment, ...kept])].map(([gpu, count]) => `${count} x ${gpu}`);
  const names = deployment.map(({ model, hosted }) => (hosted === undefined ? model : `${model} (hosted)`));
  return `${names.join(" > ")} on ${gpus.join(" and ")}`;
}

function planInputs(input: CompleteInput, finalist: Finalist): PlanDraft["inputs"] {
  const { explorer, workload, workloadId, cluster, profile, objective, constraints, running } = input;
  const { judge } = workload;
  const { judgeEngine } = explorer.input;
  const directStart = explorer.routing(finalist.routing).byGain?.router ?? explorer.input.directStart;
  return {
    workload: {
      id: workloadId,
      name: workload.name,
      requestsPerSecond: explorer.input.requestsPerSecond,
      planningPrompts: explorer.input.sample.prompts,
      sampleRequests: finalist.requests,
      seed: workload.seed,
      judge: { kind: judge.kind, auc: judge.kind === "modelled" ? judge.auc : null },
      ...(explorer.input.hosted === undefined ? {} : { dataMayLeave: true as const }),
    },
    cluster,
    models: [...explorer.input.sample.models],
    engineProfile: profile,
    objective,
    ...(asksForAnything(constraints) ? { constraints } : {}),
    ...(judgeEngine === undefined
      ? {}
      : { judgeEngine: { model: judgeEngine.model, rubricTokens: judgeEngine.rubricTokens, outputTokens: judgeEngine.outputTokens } }),
    ...(input.judgeTime === undefined ? {} : { judgeTime: input.judgeTime }),
    ...(directStart === undefined ? {} : { directStart }),
    ...(running.length > 0 ? { running: [...running] } : {}),
  };
}
