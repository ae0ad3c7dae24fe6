import type { MilpModel } from "./model";

export interface MilpLimits {
  readonly timeLimitSeconds: number;
  /** The search may stop once |objective - bound| <= relativeGap * |objective|; 0 asks for proof. */
  readonly relativeGap: number;
}

/**
 * What came of a solve. `optimal`: within the asked gap. `feasible`: a point without that proof; `bound` and `gap` where the
 * engine tells them. `undecided`: the time ran out before any point was found.
 */
export type MilpResult =
  | {
      readonly status: "optimal" | "feasible";
      readonly objective: number;
      readonly bound?: number;
      readonly gap?: number;
      /** Values by variable index; binaries are exactly 0 or 1. */
      readonly x: Float64Array;
    }
  | { readonly status: "infeasible" }
  | { readonly status: "undecided" };

/** An engine that solves mixed-integer programs. Solving blocks: run it in a worker thread. */
export interface MilpEngine {
  /** Name and version, as plans quote it. */
  readonly name: string;
  solve(model: MilpModel, limits: MilpLimits): MilpResult;
}
