import type { ReplicaShape } from "@/solver/hardware/parallelism";
import type { PlanConstraints } from "@/solver/plan/constraints";

/** All constraints on one model, as in the editor's row. */
export interface ModelRule {
  readonly used: boolean;
  /** Minimum number of replicas; 0: no minimum. */
  readonly replicas: number;
  /** null: the planner chooses. */
  readonly shape: ReplicaShape | null;
  readonly where: "any" | "only" | "never";
  /** Nodes it must run on, or must not; empty for any. */
  readonly nodes: readonly string[];
}

/** The rule of a model; where a document has several of a kind, the first. */
export function ruleOf(constraints: PlanConstraints, model: string): ModelRule {
  const own = <Entry extends { readonly model: string }>(entries: readonly Entry[]): Entry | undefined =>
    entries.find((entry) => entry.model === model);
  const shape = own(constraints.shapes);
  const nodes = own(constraints.nodes);
  const where = nodes?.only !== undefined ? "only" : (nodes?.never.length ?? 0) > 0 ? "never" : "any";
  return {
    used: !constraints.excluded.includes(model),
    replicas: own(constraints.pinned)?.replicas ?? 0,
    shape: shape === undefined ? null : { tp: shape.tp, pp: shape.pp },
    where,
    nodes: where === "only" ? (nodes?.only ?? []) : where === "never" ? (nodes?.never ?? []) : [],
  };
}

/** The constraints with one model's rule replaced. A model that is excluded has no other rule. */
export function withRule(constraints: PlanConstraints, model: string, rule: ModelRule): PlanConstraints {
  const others = <Entry extends { readonly model: string }>(entries: readonly Entry[]): Entry[] =>
    entries.filter((entry) => entry.model !== model);
  const { used, replicas, shape, where } = rule;
  const nodes = [...rule.nodes];
  const placed =
    where === "any" || nodes.length === 0 ? [] : where === "only" ? [{ model, only: nodes, never: [] }] : [{ model, never: nodes }];
  return {
    ...constraints,
    excluded: [...constraints.excluded.filter((each) => each !== model), ...(used ? [] : [model])],
    pinned: [...others(constraints.pinned), ...(used && replicas > 0 ? [{ model, replicas }] : [])],
    shapes: [...others(constraints.shapes), ...(used && shape !== null ? [{ model, ...shape }] : [])],
    nodes: [...others(constraints.nodes), ...(used ? placed : [])],
  };
}
