import type { Exploration, Knobs } from "@/solver/cascade/explore/exploration";
import type { DispatchExploration } from "@/solver/dispatch/dispatchExploration";
import type { Plan } from "@/solver/plan/plan";
import { judgeEngineOf, modelsOf } from "@/solver/plan/policySchema";
import { formatPin } from "../address/routingKey";
import { routingOf, routingOfPlan } from "../address/routingOf";
import type { PlanEstimate, Recommended } from "../planning/recommend";
import { dispatchKey } from "./dispatchPlans";
import { type FrontierPlan, figuresOf, GAIN_KEY, type PlottedPolicy } from "./frontierPlans";

type Compared = Pick<Knobs, "latency" | "qualityConfidence">;

/** The key of the tables' recommendation among the plans of the frontier, and its figures, which may be on fewer GPUs than there. */
export function estimatedPlan(
  best: Recommended,
  exploration: Exploration,
  knobs: Compared,
): Pick<FrontierPlan, "key" | "candidate" | "figures"> {
  const { estimate } = best;
  const key =
    best.kind === "slack" ? dispatchKey(best.point) : formatPin({ routing: routingOf(exploration, best.estimate.routing), gpus: null });
  return { key, candidate: estimate, figures: figuresOf(estimate, knobs) };
}

/**
 * An exact plan as a plan of the frontier, with its own figures under the key that the tables have for it; null for a policy that the page does
 * not plan.
 */
export function exactFrontierPlan(
  plan: Pick<Plan, "policy" | "predictions" | "deployment">,
  {
    models,
    dispatch,
    knobs,
  }: { readonly models: readonly string[]; readonly dispatch: DispatchExploration | null; readonly knobs: Compared },
): FrontierPlan | null {
  const { policy, predictions, deployment } = plan;
  if (policy.kind !== "cascade" && policy.kind !== "slack") return null;
  const judge = judgeEngineOf(policy);
  const gpusOf = (model: string): number => deployment.find((own) => own.model === model)?.gpus ?? 0;
  const gpus = [...modelsOf(policy), ...(judge === null ? [] : [judge])].map(gpusOf);
  const candidate: PlanEstimate = {
    gpus,
    gpusTotal: deployment.reduce((sum, own) => sum + own.gpus, 0),
    latencySeconds: knobs.latency === "end-to-end" ? predictions.p95Seconds : predictions.largestStageP95Seconds,
    costUsdPerRequest: predictions.costUsdPerRequest,
    quality: predictions.quality,
    qualityLow: predictions.qualityBand.low,
  };
  const shared = { candidate, figures: figuresOf(candidate, knobs) };
  if (policy.kind === "cascade" && policy.cascadeRouting !== undefined)
    return {
      ...shared,
      key: GAIN_KEY,
      standAloneModel: null,
      policy: { kind: "cascade-routing", models: modelsOf(policy), pointsPerGpuSecond: policy.cascadeRouting.pointsPerGpuSecond },
    };
  if (policy.kind === "cascade") {
    const routing = routingOfPlan(plan);
    const alone = routing.models.length === 1 ? models.indexOf(routing.models[0] ?? "") : -1;
    return {
      ...shared,
      key: formatPin({ routing, gpus: null }),
      standAloneModel: alone === -1 ? null : alone,
      policy: { kind: "routing", routing },
    };
  }
  const own: PlottedPolicy = { kind: "slack", models: modelsOf(policy), tau: policy.tau };
  const allocation =
    dispatch === null ? -1 : dispatch.allocations.findIndex((each) => isSame(each, dispatch.models, { models: own.models, gpus }));
  return {
    ...shared,
    key: dispatchKey({ allocation: allocation === -1 ? "plan" : allocation, tau: policy.tau }),
    standAloneModel: null,
    dispatch: { tau: policy.tau, onCurve: false },
    policy: own,
  };
}

function isSame(
  { models, gpus }: DispatchExploration["allocations"][number],
  names: readonly string[],
  other: { readonly models: readonly string[]; readonly gpus: readonly number[] },
): boolean {
  return models.map((model) => names[model]).join() === other.models.join() && gpus.join() === other.gpus.join();
}

/** The plans with one in the place of that with its key, or added; its place on the line over tau stays. */
export function withPlan(
  plans: readonly FrontierPlan[],
  own: Pick<FrontierPlan, "key" | "candidate" | "figures"> | FrontierPlan,
): readonly FrontierPlan[] {
  const at = plans.findIndex(({ key }) => key === own.key);
  const known = plans[at];
  if (known === undefined) return "policy" in own ? [...plans, own] : plans;
  return known.candidate === own.candidate ? plans : plans.with(at, { ...known, candidate: own.candidate, figures: own.figures });
}
