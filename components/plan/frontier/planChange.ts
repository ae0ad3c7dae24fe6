import type { FrontierAxes } from "@/components/charts/frontierAxes";
import type { DispatchExploration } from "@/solver/dispatch/dispatchExploration";
import type { PolicyChoice } from "@/solver/plan/planSlack";
import type { PlanView } from "../address/planCodec";
import { routingChange } from "../address/policyView";
import { parsePin } from "../address/routingKey";
import { withReplicas } from "../constraints/prepareConstraints";
import { parseDispatchKey } from "./dispatchPlans";
import { GAIN_KEY } from "./frontierPlans";
import type { PlannedBaseline } from "./prepareBetter";

/**
 * The change to the view that plans what a key of the frontier names: thresholds, cascade routing, or slack dispatch at a tau. Its GPUs too where an axis tells
 * plans apart by them. null for a key that names no plan.
 */
export function planChange(
  key: string,
  view: { readonly policy: PolicyChoice; readonly axes: FrontierAxes; readonly dispatch: DispatchExploration | null },
): Partial<PlanView> | null {
  if (key === GAIN_KEY) return gainChange;
  const point = parseDispatchKey(key);
  if (point !== null) {
    const gpus = view.dispatch?.allocations[point.allocation]?.gpus.reduce((sum, own) => sum + own, 0);
    const byCost = [view.axes.x, view.axes.y].some((axis) => axis === "cost" || axis === "gpus");
    return { policy: "slack", tau: point.tau, fixed: null, ...(byCost && gpus !== undefined && { gpus }) };
  }
  const pin = parsePin(key);
  if (pin === null) return null;
  return { ...routingChange(pin.routing, view.policy), ...(pin.gpus !== null && { gpus: pin.gpus }) };
}

/** The change to the view that plans cascade routing: the planner chooses its models and trade-off. */
const gainChange: Partial<PlanView> = { policy: "cascade-routing", fixed: null, tau: null };

/**
 * The change to the view that plans a baseline by hand: a trained router needs the predictor that its scores come from. Replicas become
 * constraints in addition to those of the view; of the same model they take the place of its shape and number there.
 */
export function baselineChange(
  baseline: PlannedBaseline,
  { policy, constraints }: Pick<PlanView, "policy" | "constraints">,
): Partial<PlanView> {
  if (baseline.kind === "cascade-routing") return gainChange;
  const { routing } = baseline;
  const change = { ...routingChange(routing, policy), ...(routing.startBelow !== undefined && { router: "trained" as const }) };
  if (baseline.kind === "thresholds") return change;
  return { ...change, constraints: withReplicas(constraints, baseline.rules) };
}
