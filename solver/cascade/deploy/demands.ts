import { constraintsOf, type NamedConstraint, type PlanConstraints } from "@/solver/plan/constraints";
import type { Objective } from "@/solver/plan/plan";
import { exactSecondsText } from "@/solver/wording/wording";

/** All demands on a plan: the constraints, the floor and the latency budget. */
export interface Demands extends Pick<Objective, "qualityFloor" | "latencyBudgetSeconds"> {
  readonly constraints: PlanConstraints;
}

/** One demand, in operators' words, and the demands without it. */
export interface Demand extends Pick<NamedConstraint, "model" | "says"> {
  readonly kind: keyof PlanConstraints | "qualityFloor" | "latencyBudgetSeconds";
  without(demands: Demands): Demands;
}

/** Every demand by name: the constraints in the order of their schema, then floor and budget. */
export function demandsOf({ constraints, qualityFloor, latencyBudgetSeconds }: Demands): readonly Demand[] {
  const named = constraintsOf(constraints).map(
    (name): Demand => ({ ...name, without: (demands) => ({ ...demands, constraints: name.without(demands.constraints) }) }),
  );
  const floor: Demand = {
    kind: "qualityFloor",
    model: null,
    says: `a quality of at least ${qualityFloor}`,
    without: (demands) => ({ ...demands, qualityFloor: null }),
  };
  const budget: Demand = {
    kind: "latencyBudgetSeconds",
    model: null,
    says: `within ${exactSecondsText(latencyBudgetSeconds ?? 0)}`,
    without: (demands) => ({ ...demands, latencyBudgetSeconds: null }),
  };
  return [...named, ...(qualityFloor === null ? [] : [floor]), ...(latencyBudgetSeconds === null ? [] : [budget])];
}

/** One demand of a conflict, and the value that would work instead of it, all others kept. */
export interface ConflictingConstraint extends Pick<Demand, "kind" | "model" | "says"> {
  /** The nearest value that can be kept, in the demand's unit; null where the demand has no value or relaxing it alone is not enough. */
  readonly nearest: number | null;
  /** What is needed, in operators' words. */
  readonly needs: string;
}
