import { gpuCount } from "@/solver/plan/clusterGpus";
import { asksForAnything } from "@/solver/plan/constraints";
import { withCapOf } from "./bestByTables";
import { type ConflictAsked, type Oracle, oracleOf } from "./conflictOracle";
import { type ConflictingConstraint, type Demand, type Demands, demandsOf } from "./demands";
import { nearestKept } from "./nearestKept";

/** Why no plan keeps all demands, among them constraints. */
export interface Conflict {
  /** By the tables no plan keeps all of these; without any one of them some plan keeps the others. */
  readonly constraints: readonly ConflictingConstraint[];
  readonly says: string;
}

/**
 * The smallest set of demands that conflict: one alone, else two, else the result of a deletion filter (Chinneck, Feasibility and
 * Infeasibility in Optimization, 2008), which is minimal but need not be the smallest. Every answer comes from planning by the tables, over
 * all routings.
 *
 * @returns null where all can be kept by the tables, where no constraint is part of the conflict, or where the time was not enough.
 */
export function explainConflict(asked: ConflictAsked): Conflict | null {
  const { objective, cluster, fixed } = asked;
  const demands: Demands = {
    constraints: withCapOf(asked.constraints, objective.maxGpus, gpuCount(cluster)),
    qualityFloor: fixed === null ? objective.qualityFloor : null,
    latencyBudgetSeconds: fixed === null ? objective.latencyBudgetSeconds : null,
  };
  const oracle = oracleOf(asked);
  if (!asksForAnything(demands.constraints) || oracle.keeps(demands)) return null;
  const members = smallestConflict(demands, oracle);
  if (members.every(({ kind }) => kind === "qualityFloor" || kind === "latencyBudgetSeconds")) return null;
  const constraints = members.map((member) => {
    const { kind, model, says } = member;
    return { kind, model, says, ...nearestKept(demands, member, oracle) };
  });
  const together = constraints.length === 1 ? "This cannot be kept" : "These cannot all be kept";
  const cut = oracle.cut() ? " Not everything was tried: less may be enough." : "";
  return { constraints, says: `${together}: ${constraints.map(({ says, needs }) => `${says} (${needs})`).join("; ")}.${cut}` };
}

function smallestConflict(demands: Demands, { keeps }: Oracle): readonly Demand[] {
  const all = demandsOf(demands);
  const conflict = (names: readonly Demand[]): boolean =>
    !keeps(all.filter((name) => !names.includes(name)).reduce((less, name) => name.without(less), demands));
  if (conflict([])) return [];
  const pairs = all.flatMap((one, index) => all.slice(index + 1).map((other) => [one, other]));
  const small = [...all.map((name) => [name]), ...pairs].find(conflict);
  if (small !== undefined) return small;
  return all.reduce((names, name) => {
    const fewer = names.filter((other) => other !== name);
    return conflict(fewer) ? fewer : names;
  }, all);
}
