import type { MilpModel } from "./model";

export interface MilpLimits {
  readonly timeLimitSeconds: number;
  /** The search may stop once |objective - bound| <= relativeGap * |objective|; 0 requires proof. */
  readonly relativeGap: number;
}

/**
 * The result of a solve. `optimal`: within the requested gap. `feasible`: a point without that proof; `bound` and `gap` where the
 * engine returns them. `undecided`: the time ran out before any point was found.
 */
export type MilpResult =
  | {
      readonly status: "optimal" | "feasible";
      readonly objective: number;
      readonly bound?: number;
      readonly gap?: number;
      /** Values by variable index; integers are whole. */
      readonly x: Float64Array;
    }
  | { readonly status: "infeasible" }
  | { readonly status: "undecided" };

/** An engine that solves mixed-integer programs. Solving blocks: run it in a worker thread. */
export interface MilpEngine {
  /** Name and version, as plans quote it. */
  readonly name: string;
  /** @throws when the objective is unbounded: this project's models never should be. */
  solve(model: MilpModel, limits: MilpLimits): MilpResult;
}

/** The result where there is nothing to search for: engines differ over rows without terms and models without variables, or crash. */
export function answerWithoutSearch({ variables, rows }: MilpModel): MilpResult | null {
  const broken = rows.some(
    ({ terms, sense, bound }) => terms.length === 0 && ((sense !== ">=" && bound < 0) || (sense !== "<=" && bound > 0)),
  );
  if (broken) return { status: "infeasible" };
  return variables.length === 0 ? { status: "optimal", objective: 0, bound: 0, gap: 0, x: new Float64Array() } : null;
}

/**
 * Whether two solvers found the same optimum: to 1e-6, relative above 1. Engines keep rows to a tolerance relative to their
 * scale only (GLPK 1e-7), so with latencies of a minute two correct results may differ by more than an absolute 1e-6.
 *
 * @example sameOptimum(60, 59.999999) // true
 */
export function sameOptimum(one: number, other: number): boolean {
  return Math.abs(one - other) <= 1e-6 * Math.max(1, Math.abs(one), Math.abs(other));
}
