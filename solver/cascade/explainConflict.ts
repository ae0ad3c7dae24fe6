import { asksForAnything, type PlanConstraints } from "../deployment/constraints";
import { gpuCount } from "../plan/clusterGpus";
import type { Objective } from "../plan/plan";
import { type BestByTables, bestByTables, withCapOf } from "./bestByTables";
import type { BuildPlanInput } from "./buildPlan";
import type { Constrained } from "./constrainedDeployment";
import { type Demand, type Demands, demandsOf } from "./demands";
import type { Knobs } from "./exploration";
import type { Explorer } from "./explore";
import { addReached } from "./fixedDeployment";
import { nearestKept } from "./nearestKept";

/** One demand of a conflict, and what would do instead of it, all others kept. */
export interface ConflictingConstraint extends Pick<Demand, "kind" | "model" | "says"> {
  /** The nearest value that can be kept, in the demand's unit; null where it has none or relaxing it alone is not enough. */
  readonly nearest: number | null;
  /** What is needed, in operators' words. */
  readonly needs: string;
}

/** Why no plan keeps all demands, constraints among them. */
export interface Conflict {
  /** By the tables no plan keeps these, and without any one of them there is one that keeps the rest of them. */
  readonly constraints: readonly ConflictingConstraint[];
  readonly says: string;
}

export interface ConflictAsked extends Omit<Constrained, "explorer"> {
  /** What was asked with, whose models a routing set by hand counts. */
  readonly explorer: Pick<Explorer, "input">;
  /** A routing set by hand, which alone is deployed whatever its quality and latency; null where any may be. */
  readonly fixed: BuildPlanInput["fixed"];
  /** Explores with the models and shapes that constraints leave; null where they leave none. */
  explorerUnder(constraints: PlanConstraints): Explorer | null;
}

/** Time for all of an explanation; what it does not suffice for is not told. */
const CONFLICT_SECONDS = 25;

/** Answers whether demands can be kept; kept, since the same are asked for again and again. */
export interface Oracle {
  readonly asked: ConflictAsked;
  /** The best plan by the tables under demands, or any. `undecided` once the time is up. */
  best(demands: Demands, kind: Objective["kind"], sought: "best" | "any"): BestByTables | "undecided";
  keeps(demands: Demands): boolean;
  /** Whether any answer was cut short. */
  cut(): boolean;
}

/**
 * The smallest set of demands that conflict: one alone, else two, else what a deletion filter leaves (Chinneck, Feasibility and
 * Infeasibility in Optimization, 2008), which is minimal but need not be the smallest of its kind. Every answer comes from planning by the
 * tables, over all routings.
 *
 * @returns null where all can be kept by the tables, where no constraint is among those that conflict, or nothing was found out in time.
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

/** Adds a routing set by hand to another explorer than the one whose models it counts; its index there. All of them are the other's too. */
export function addByName(to: Explorer, models: readonly string[], fixed: NonNullable<BuildPlanInput["fixed"]>): number {
  const stages = fixed.stages.map((stage) => to.input.sample.models.indexOf(models[stage] ?? ""));
  return addReached(to, stages, fixed.thresholds, fixed.startBelow);
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

function oracleOf(asked: ConflictAsked): Oracle {
  const { objective, elapsedSeconds } = asked;
  const startedSeconds = elapsedSeconds();
  const known = new Map<string, BestByTables | "undecided">();
  let cut = false;
  const best: Oracle["best"] = (demands, kind, sought) => {
    const key = JSON.stringify([demands, kind, sought]);
    const answer = known.get(key) ?? find(demands, kind, sought);
    if (answer === "undecided" || answer.cut) cut = true;
    known.set(key, answer);
    return answer;
  };
  return {
    asked,
    best,
    keeps(demands) {
      const found = best(demands, objective.kind, "any");
      return found !== "undecided" && found.candidate !== null;
    },
    cut: () => cut,
  };

  function find({ constraints, ...limits }: Demands, kind: Objective["kind"], sought: "best" | "any"): BestByTables | "undecided" {
    if (elapsedSeconds() - startedSeconds > CONFLICT_SECONDS) return "undecided";
    const explorer = asked.explorerUnder(constraints);
    const models = explorer?.input.sample.models ?? [];
    if (explorer === null || constraints.pinned.some(({ model }) => !models.includes(model))) {
      return { candidate: null, heldSeconds: Number.POSITIVE_INFINITY, cut: false };
    }
    explorer.search();
    const { fixed } = asked;
    if (fixed === null) explorer.focus({ floor: limits.qualityFloor, budgetSeconds: limits.latencyBudgetSeconds });
    const routing = fixed === null ? null : addByName(explorer, asked.explorer.input.sample.models, fixed);
    const knobs: Knobs = { ...objective, ...limits, kind, maxGpus: gpuCount(asked.cluster) };
    return bestByTables({ ...asked, explorer, constraints, objective: { ...objective, ...knobs } }, knobs, { sought, routing });
  }
}
