import { best, type ComparedFigures, promisedQuality } from "@/solver/cascade/choose/choose";
import { kindWithinSlack, slackApplies, slackLimit } from "@/solver/cascade/choose/slackChoice";
import { type SlackFigures, slackSays } from "@/solver/cascade/choose/slackSays";
import { buildPlan } from "@/solver/cascade/plan/buildPlan";
import type { NoPlan } from "@/solver/cascade/plan/planInput";
import type { DispatchDraft, Objective, PlanDraft } from "@/solver/plan/plan";
import type { ComparedPolicy, PolicyChoice } from "@/solver/plan/planSlack";
import { modelsOf } from "@/solver/plan/policySchema";
import { isAsked } from "./choosePolicy";
import { type PlanDispatchInput, planDispatch } from "./dispatchPlan";
import { type GatePlansInput, planGainWithGates, planWithGates } from "./gatePlans";

/** A planning request for any kind of policy. */
export interface PlanPoliciesInput extends GatePlansInput, Pick<PlanDispatchInput, "tau" | "explored"> {
  readonly policy: PolicyChoice;
  /** Keeps the plans of each kind for an objective without a slack, from which a slack counts: each step of a slack needs the same. */
  readonly keep: (objective: Objective, plan: () => readonly BuiltOfKind[]) => readonly BuiltOfKind[];
}

export type BuiltPolicy = { readonly outcome: "plan"; readonly draft: PlanDraft | DispatchDraft } | NoPlan;

type Kind = ComparedPolicy["policy"];
/** The plan of one kind of policy, or why there is none. */
export type BuiltOfKind = BuiltPolicy & { readonly policy: Kind };
type Planned = Extract<BuiltOfKind, { outcome: "plan" }>;

/** Figures of a plan as an objective compares them. */
type PlannedFigures = ComparedFigures & { readonly built: Planned };

/**
 * Plans each kind of policy that is asked for on the same objective and GPUs, and takes the best by the figures of their whole simulations.
 * A slack counts from the fastest plan of these kinds. A cascade alone is planned as ever; a routing set by hand is a cascade.
 */
export function planPolicies(input: PlanPoliciesInput): BuiltPolicy {
  const { policy, objective, fixed } = input;
  if (policy === "cascade" || fixed !== null) return planWithGates(input);
  const { slack: _, ...without } = objective;
  if (!slackApplies(objective))
    return recommended(
      input,
      input.keep(without, () => planEach(input, objective)),
      objective.kind,
    );
  const asFast: Objective = { ...without, kind: "latency-under-quality" };
  const fastest = pick(
    input,
    input.keep(asFast, () => planEach(input, asFast)),
    "latency-under-quality",
  );
  if (fastest === null) return recommended(input, planEach(input, without), objective.kind);
  const each = planEach({ ...input, slackFromSeconds: fastest.latencySeconds }, objective);
  // A search within the limit that misses what the fastest plan has is no loss: that plan keeps the limit.
  const built = recommended(input, [...each, fastest.built], kindWithinSlack(objective));
  if (built.outcome === "infeasible") return built;
  const limitSeconds = slackLimit(fastest.latencySeconds, objective);
  const { solver, inputs } = built.draft;
  const says = slackSays(objective, { limitSeconds, fastest: saidOf(fastest.built, objective), chosen: saidOf(built, objective) });
  const slack = boughtBy(objective, limitSeconds, fastest);
  return {
    outcome: "plan",
    draft: { ...built.draft, inputs: { ...inputs, objective }, solver: { ...solver, why: [says, ...solver.why], slack } },
  };
}

/** The plan of each kind of policy that is asked for, or why there is none. */
function planEach(input: PlanPoliciesInput, objective: Objective): readonly BuiltOfKind[] {
  const kinds: readonly Kind[] = ["cascade", "cascade-routing", "one-model", "slack"];
  const asked = { ...input, objective };
  return kinds.filter((kind) => isAsked(kind, input.policy)).map((kind) => ({ policy: kind, ...planKind(asked, kind) }));
}

function planKind(input: PlanPoliciesInput, kind: Kind): BuiltPolicy {
  switch (kind) {
    case "cascade":
      return planWithGates(input);
    case "cascade-routing":
      return planGainWithGates(input);
    case "one-model":
      return planOneModel(input);
    case "slack": {
      const built = planDispatch(input);
      if (built.outcome === "plan") return built;
      const unfit = built.kind === "one-model" || built.kind === "gpu-types" || built.kind === "shared-engines";
      return { ...built, kind: unfit ? "malformed" : built.kind };
    }
  }
}

/** The best model alone: each that meets the floor is deployed and simulated whole. */
function planOneModel(input: PlanPoliciesInput): BuiltPolicy {
  const { explorer, objective } = input;
  const quality = promisedQuality(objective);
  explorer.search();
  const { routings } = explorer.exploration();
  const singles = routings.filter(({ stages }) => stages.length === 1);
  const promised = (one: (typeof singles)[number]): number => quality({ ...one, latencySeconds: 0, costUsdPerRequest: 0 });
  const meeting = singles.filter((one) => promised(one) >= (objective.qualityFloor ?? 0));
  const built = meeting.map(({ stages }) => buildPlan({ ...input, fixed: { stages, thresholds: [], startBelow: 0 } }));
  const plans = built.flatMap((one) => (one.outcome === "plan" ? [{ ...one, policy: "one-model" as const }] : []));
  const found = bestModel(input, plans);
  if (found !== null) return found;
  const bestQuality = singles.length === 0 ? null : Math.max(...singles.map(promised));
  const seconds = plans.map(({ draft }) => secondsOf(draft, objective));
  const failed = built.find((one) => one.outcome === "infeasible");
  if (meeting.length > 0 && plans.length === 0 && failed?.outcome === "infeasible") return failed;
  const bestLatencySeconds = seconds.length === 0 ? null : Math.min(...seconds);
  return meeting.length === 0
    ? {
        outcome: "infeasible",
        kind: "quality-floor",
        reason: `No model alone reaches the floor of ${objective.qualityFloor}.`,
        bestQuality,
        bestLatencySeconds,
      }
    : {
        outcome: "infeasible",
        kind: "latency-budget",
        reason: "No model alone keeps the latency budget.",
        bestQuality,
        bestLatencySeconds,
      };
}

/** The best of models alone: within a slack that of the highest quality, on the fewest GPUs that keep the limit, or the cheapest. */
function bestModel(input: PlanPoliciesInput, plans: readonly Planned[]): BuiltPolicy | null {
  const { objective, explorer, slackFromSeconds } = input;
  if (!slackApplies(objective)) return pick(input, plans, objective.kind)?.built ?? null;
  const { slack: _, ...without } = objective;
  const fastest = pick(input, plans, "latency-under-quality");
  if (fastest === null) return null;
  const latencyBudgetSeconds = slackLimit(fastest.latencySeconds, {
    ...objective,
    ...(slackFromSeconds === undefined ? {} : { slackFromSeconds }),
  });
  const limited = { ...input, objective: { ...without, latencyBudgetSeconds } };
  const sized = plans.flatMap(({ draft }) => {
    const stages =
      draft.policy.kind === "cascade" ? draft.policy.stages.map(({ model }) => explorer.input.sample.models.indexOf(model)) : [];
    const objective: Objective = { ...limited.objective, kind: "cost-under-both" };
    const fewest = buildPlan({ ...limited, objective, fixed: { stages, thresholds: [], startBelow: 0 } });
    return fewest.outcome === "plan" ? [{ ...fewest, policy: "one-model" as const }] : [];
  });
  return pick(limited, sized, kindWithinSlack(objective))?.built ?? null;
}

/** The best plan by its own predictions among those that keep floor and budget; null where there is none. */
function pick(
  { objective }: Pick<PlanPoliciesInput, "objective">,
  all: readonly BuiltOfKind[],
  kind: Objective["kind"],
): PlannedFigures | null {
  const quality = promisedQuality(objective);
  const figures = all.flatMap((built) => (built.outcome === "plan" ? [{ ...figuresOf(built.draft, objective), built }] : []));
  const budget = objective.latencyBudgetSeconds ?? Number.MAX_VALUE;
  const keeping = figures.filter((one) => quality(one) >= (objective.qualityFloor ?? 0) && one.latencySeconds <= budget);
  return best(keeping, kind, quality);
}

function recommended(input: PlanPoliciesInput, all: readonly BuiltOfKind[], kind: Objective["kind"]): BuiltPolicy {
  const chosen = pick(input, all, kind);
  if (chosen === null) {
    const [first, ...rest] = all.flatMap((one) => (one.outcome === "infeasible" ? [one] : []));
    if (first === undefined) throw new Error("every kind of policy has a plan, and none keeps floor and budget");
    const reasons = [first, ...rest].map(({ reason }) => reason);
    const { policy: _, ...answer } = first;
    return { ...answer, reason: [...new Set(reasons)].join(" ") };
  }
  const { draft } = chosen.built;
  const { objective, policy } = input;
  const policies =
    policy === "any" ? { policies: bestOfKinds(all, chosen.built).map((one) => compared(one, chosen.built, objective)) } : {};
  const { inputs, solver } = draft;
  return {
    outcome: "plan",
    draft: { ...draft, inputs: { ...inputs, objective, policyChoice: policy }, solver: { ...solver, ...policies } },
  };
}

/** One plan of each kind: the chosen one of its own, the first of the others. The fastest plan may be listed once more after them. */
function bestOfKinds(all: readonly BuiltOfKind[], chosen: Planned): readonly BuiltOfKind[] {
  const kinds = [...new Set(all.map(({ policy }) => policy))];
  return kinds.flatMap((kind) => (kind === chosen.policy ? chosen : (all.find(({ policy }) => policy === kind) ?? [])));
}

function compared(built: BuiltOfKind, chosen: Planned, objective: Objective): ComparedPolicy {
  if (built.outcome === "infeasible")
    return {
      ...{ policy: built.policy, models: [], quality: null, qualityLow: null, p95Seconds: null, gpus: null, costUsdPerRequest: null },
      chosen: false,
      reason: built.reason,
    };
  const { draft } = built;
  const { quality, qualityLow, latencySeconds, costUsdPerRequest } = figuresOf(draft, objective);
  const models = modelsOf(draft.policy);
  return {
    ...{ policy: built.policy, models, quality, qualityLow, p95Seconds: latencySeconds, costUsdPerRequest },
    gpus: draft.deployment.reduce((sum, { gpus }) => sum + gpus, 0),
    chosen: built === chosen,
    reason: built.policy === "cascade" && models.length === 1 ? "The best cascade here is one model alone." : null,
  };
}

function figuresOf(draft: PlanDraft | DispatchDraft, objective: Pick<Objective, "latency">): ComparedFigures {
  const { quality, qualityBand, costUsdPerRequest } = draft.predictions;
  return { quality, qualityLow: qualityBand.low, latencySeconds: secondsOf(draft, objective), costUsdPerRequest };
}

const secondsOf = ({ predictions }: PlanDraft | DispatchDraft, { latency }: Pick<Objective, "latency">): number =>
  latency === "end-to-end" ? predictions.p95Seconds : predictions.largestStageP95Seconds;

/** The figures of a plan as the sentence on a slack gives them. */
function saidOf({ draft }: Extract<BuiltPolicy, { outcome: "plan" }>, objective: Objective): SlackFigures {
  const figures = figuresOf(draft, objective);
  const gpus = draft.deployment.reduce((sum, own) => sum + own.gpus, 0);
  return { ...figures, quality: promisedQuality(objective)(figures), gpus };
}

function boughtBy(
  { slack = 0 }: Objective,
  limitSeconds: number,
  { quality, qualityLow, latencySeconds, costUsdPerRequest, built }: PlannedFigures,
) {
  const gpus = built.draft.deployment.reduce((sum, own) => sum + own.gpus, 0);
  return { slack, limitSeconds, fastest: { quality, qualityLow, p95Seconds: latencySeconds, gpus, costUsdPerRequest } };
}
