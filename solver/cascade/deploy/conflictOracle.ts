import { gpuCount } from "@/solver/plan/clusterGpus";
import type { PlanConstraints } from "@/solver/plan/constraints";
import type { Objective } from "@/solver/plan/plan";
import type { Knobs } from "../explore/exploration";
import type { Explorer } from "../explore/explorer";
import { addReached, type FixedRouting } from "../explore/fixedDeployment";
import { type BestByTables, bestByTables } from "./bestByTables";
import type { Constrained } from "./constrainedDeployment";
import type { Demands } from "./demands";

/** The input of a conflict explanation. */
export interface ConflictAsked extends Omit<Constrained, "explorer"> {
  /** The planning request, with the models that a routing set by hand refers to. */
  readonly explorer: Pick<Explorer, "input">;
  /** A routing set by hand, the only one deployed, whatever its quality and latency; null where any may be deployed. */
  readonly fixed: FixedRouting | null;
  /** Explores with the models and shapes that constraints leave; null where they leave none. */
  explorerUnder(constraints: PlanConstraints): Explorer | null;
}

/** Time limit of a whole explanation; parts that do not finish in time are omitted. */
const CONFLICT_SECONDS = 25;

/** Answers whether demands can be kept; cached, since the same demands are queried repeatedly. */
export interface Oracle {
  readonly asked: ConflictAsked;
  /** The best plan by the tables under the demands, or any plan. `undecided` once the time is up. */
  best(demands: Demands, kind: Objective["kind"], sought: "best" | "any"): BestByTables | "undecided";
  keeps(demands: Demands): boolean;
  /** Whether any answer was cut short. */
  cut(): boolean;
}

/** Adds a routing set by hand to an explorer that may have more models than the one it refers to; returns its index there. */
export function addByName(to: Explorer, models: readonly string[], fixed: FixedRouting): number {
  const stages = fixed.stages.map((stage) => to.input.sample.models.indexOf(models[stage] ?? ""));
  return addReached(to, stages, fixed.thresholds, fixed.startBelow);
}

export function oracleOf(asked: ConflictAsked): Oracle {
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
