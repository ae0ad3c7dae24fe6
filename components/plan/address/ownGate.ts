import type { Plan } from "@/solver/plan/plan";
import type { GateChoice, PlannedGateKind } from "@/solver/plan/planGates";
import type { PlanView } from "./planCodec";

/**
 * The gate that a plan's thresholds are scores of, where a request with these thresholds must name it: among all gates another one was
 * chosen than the judge, which a routing set by hand has by itself. Else null.
 */
export function ownGateOf(
  plan: { readonly solver: Pick<Plan["solver"], "comparedGates"> } | null,
  asked: GateChoice,
): PlannedGateKind | null {
  const kind = plan?.solver.comparedGates?.find(({ chosen }) => chosen)?.kind;
  return asked !== "any" || kind === undefined || kind === "judge" ? null : kind;
}

/** A change of the view with the gate that its thresholds are scores of; one that sets no thresholds as it is. */
export const withGate = (next: Partial<PlanView>, own: PlannedGateKind | null): Partial<PlanView> =>
  own === null || next.fixed == null || next.gateChoice !== undefined ? next : { ...next, gateChoice: own };

/**
 * A change of the view that leaves thresholds to the planner leaves the gate to it too, if only `withGate` named one.
 *
 * @param current the view's gate, and the one that `withGate` put there; null: none.
 */
export function handedBack(
  next: Partial<PlanView>,
  current: { readonly gateChoice: GateChoice; readonly named: PlannedGateKind | null },
): Partial<PlanView> {
  const isHandedBack = next.fixed === null && next.gateChoice === undefined && current.named === current.gateChoice;
  return isHandedBack ? { ...next, gateChoice: "any" } : next;
}
