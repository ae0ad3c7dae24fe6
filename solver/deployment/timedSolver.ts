import type { MilpResult } from "../milp/engine";
import type { MilpModel } from "../milp/model";
import type { Solving } from "./problem";

/** A MILP engine for many solves that share one time limit. */
export interface TimedSolver {
  /** To proven optimality, or to within the gap, or `undecided` once the time is up. */
  solve(model: MilpModel): MilpResult;
  /** Number of solves so far. */
  milps(): number;
  /** Seconds since the solver was made. */
  seconds(): number;
}

/** @param relativeGap within which a search may end; 0 requires proof. */
export function timedSolver({ engine, timeLimitSeconds, nowSeconds }: Solving, relativeGap = 0): TimedSolver {
  const startedSeconds = nowSeconds();
  let milps = 0;
  const seconds = (): number => nowSeconds() - startedSeconds;
  return {
    solve(model) {
      const leftSeconds = timeLimitSeconds - seconds();
      if (leftSeconds <= 0) return { status: "undecided" };
      milps += 1;
      return engine.solve(model, { timeLimitSeconds: leftSeconds, relativeGap });
    },
    milps: () => milps,
    seconds,
  };
}
