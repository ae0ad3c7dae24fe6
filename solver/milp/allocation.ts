import type { MilpModel, Row, Term, Variable } from "./model";

/**
 * Allocates GPUs to the stages of a cascade. `tables[s][f - 1]` is the latency in seconds of stage s on f GPUs: non-increasing in
 * f, Infinity where f GPUs are not enough.
 */
export interface AllocationProblem {
  readonly tables: readonly ArrayLike<number>[];
  /** Available GPUs; fewer may be used. */
  readonly gpus: number;
  readonly objective: AllocationObjective;
}

/**
 * `largest-stage` minimises the largest latency (Cascadia, section 3.2). `weighted-sum` minimises the sum of
 * `weights[s] * latency` with every latency at most `stageLimitSeconds`.
 */
type AllocationObjective =
  | { readonly kind: "largest-stage" }
  | { readonly kind: "weighted-sum"; readonly weights: ArrayLike<number>; readonly stageLimitSeconds: number };

export interface Allocation {
  /** GPUs per stage. */
  readonly gpus: readonly number[];
  /** Value of the objective in seconds. */
  readonly latencySeconds: number;
}

/** One GPU count worth considering: fewer GPUs are slower, more up to the next step are no faster. */
interface Step {
  readonly gpus: number;
  readonly seconds: number;
}

/** The GPU counts at which a table falls, with finite latencies of at most `limitSeconds`; the others need never be chosen. */
function stepsOf(table: ArrayLike<number>, gpus: number, limitSeconds = Number.POSITIVE_INFINITY): Step[] {
  const steps: Step[] = [];
  let best = Number.POSITIVE_INFINITY;
  for (let f = 1; f <= Math.min(gpus, table.length); f += 1) {
    const seconds = table[f - 1] ?? Number.POSITIVE_INFINITY;
    if (seconds < best) {
      best = seconds;
      if (seconds <= limitSeconds) steps.push({ gpus: f, seconds });
    }
  }
  return steps;
}

/** The value of an allocation's objective, for stage latencies given in stage order. */
function allocationValue(objective: AllocationObjective, seconds: readonly number[]): number {
  if (objective.kind === "largest-stage") return Math.max(...seconds);
  return seconds.reduce((sum, value, stage) => sum + value * (objective.weights[stage] ?? 0), 0);
}

/**
 * The allocation as a mixed-integer program (Cascadia, section 3.2): one binary x_sf per stage and useful GPU count, exactly
 * one per stage, at most `gpus` in total; for `largest-stage` a free L >= every stage's latency is minimised. Counts that are
 * infeasible (the source's x_if = 0) or no better than fewer GPUs have no column, which leaves the optimum unchanged.
 */
export function allocationModel({ tables, gpus, objective }: AllocationProblem): MilpModel {
  const limit = objective.kind === "weighted-sum" ? objective.stageLimitSeconds : Number.POSITIVE_INFINITY;
  const variables: Variable[] = [];
  const rows: Row[] = [];
  const used: Term[] = [];
  const largest = objective.kind === "largest-stage" ? 0 : null;
  if (largest !== null) variables.push({ name: "L", lower: 0, upper: Number.POSITIVE_INFINITY, cost: 1, integer: false });
  for (const [stage, table] of tables.entries()) {
    const chosen: Term[] = [];
    const latency: Term[] = [];
    const weight = objective.kind === "weighted-sum" ? (objective.weights[stage] ?? 0) : 0;
    for (const step of stepsOf(table, gpus, limit)) {
      const variable = variables.length;
      variables.push({ name: `x_${stage}_${step.gpus}`, lower: 0, upper: 1, cost: weight * step.seconds, integer: true });
      chosen.push({ variable, coefficient: 1 });
      latency.push({ variable, coefficient: step.seconds });
      used.push({ variable, coefficient: step.gpus });
    }
    rows.push({ name: `one_${stage}`, terms: chosen, sense: "=", bound: 1 });
    if (largest !== null)
      rows.push({ name: `slowest_${stage}`, terms: [...latency, { variable: largest, coefficient: -1 }], sense: "<=", bound: 0 });
  }
  rows.push({ name: "gpus", terms: used, sense: "<=", bound: gpus });
  return { name: "allocation", variables, rows };
}

/** GPUs per stage of a solution of `allocationModel`, whose columns are in the order of the stages and their steps. */
export function readAllocation({ tables, gpus: most, objective }: AllocationProblem, x: ArrayLike<number>): Allocation {
  const limit = objective.kind === "weighted-sum" ? objective.stageLimitSeconds : Number.POSITIVE_INFINITY;
  let column = objective.kind === "largest-stage" ? 1 : 0;
  const gpus = tables.map((table) => {
    const steps = stepsOf(table, most, limit);
    const chosen = steps.findIndex((_, step) => (x[column + step] ?? 0) > 0.5);
    column += steps.length;
    return steps[chosen]?.gpus ?? 0;
  });
  const seconds = gpus.map((f, stage) => tables[stage]?.[f - 1] ?? Number.POSITIVE_INFINITY);
  return { gpus, latencySeconds: allocationValue(objective, seconds) };
}
