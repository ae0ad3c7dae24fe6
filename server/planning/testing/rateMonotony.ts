import type { Objective } from "@/solver/plan/plan";

/** Relative error of sums of simulated times: with requests of one length the traffic itself has no noise. */
const ROUNDING = 1e-6;

/** The result of a plan at one rate; null in its place: no plan. */
export interface RatePlan {
  readonly p95Seconds: number;
  /** Half width of the 90 % band of the p95 over blocks of the simulated traffic. */
  readonly spreadSeconds: number;
  readonly quality: number;
  readonly costUsdPerHour: number;
}

/** One pair of rates at which the lower rate got the worse answer. */
export interface RateViolation {
  /** `feasibility`: no plan at the lower rate, one at the higher. Otherwise the figure that is worse for the plan at the lower rate. */
  readonly kind: "feasibility" | "p95" | "quality" | "cost";
  /** Positions of the lower and the higher rate. */
  readonly low: number;
  readonly high: number;
  /** Excess of the lower rate's figure, relative to the higher rate's; Infinity if it has no plan. */
  readonly excess: number;
}

export interface RateComparison {
  readonly pairs: number;
  readonly violations: readonly RateViolation[];
  /** The largest relative p95 by which a lower rate is slower, whatever the noise; 0 if there is none. */
  readonly worstP95Excess: number;
}

/**
 * Every pair of ascending rates: what is feasible at a rate is feasible below it, and the objective's figure is no worse there. A p95
 * counts as worse if it exceeds the other by more than their noise: the half widths of both 90 % bands over blocks of the simulated
 * traffic, added in squares. That is the width by which a p95 of other traffic of the same law would differ nine times in ten.
 */
export function compareRates(kind: Objective["kind"], plans: readonly (RatePlan | null)[]): RateComparison {
  const violations: RateViolation[] = [];
  let pairs = 0;
  let worstP95Excess = 0;
  for (const [high, above] of plans.entries()) {
    for (const [low, below] of plans.slice(0, high).entries()) {
      pairs += 1;
      if (above === null) continue;
      if (below === null) {
        violations.push({ kind: "feasibility", low, high, excess: Number.POSITIVE_INFINITY });
        continue;
      }
      const worse = worseBelow(kind, below, above);
      if (kind === "latency-under-quality") worstP95Excess = Math.max(worstP95Excess, below.p95Seconds / above.p95Seconds - 1);
      if (worse !== null) violations.push({ ...worse, low, high });
    }
  }
  return { pairs, violations, worstP95Excess };
}

function worseBelow(kind: Objective["kind"], below: RatePlan, above: RatePlan): Pick<RateViolation, "kind" | "excess"> | null {
  if (kind === "latency-under-quality") {
    const noise = Math.hypot(below.spreadSeconds, above.spreadSeconds) + ROUNDING * above.p95Seconds;
    const excess = below.p95Seconds / above.p95Seconds - 1;
    return below.p95Seconds > above.p95Seconds + noise ? { kind: "p95", excess } : null;
  }
  if (kind === "quality-under-latency")
    return below.quality < above.quality - 1e-9 ? { kind: "quality", excess: above.quality / below.quality - 1 } : null;
  return below.costUsdPerHour > above.costUsdPerHour + 1e-9
    ? { kind: "cost", excess: below.costUsdPerHour / above.costUsdPerHour - 1 }
    : null;
}
