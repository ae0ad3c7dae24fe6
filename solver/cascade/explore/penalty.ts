/** The best and the worst reachable quality: everything answered by the largest model, everything by the smallest. */
export interface QualityRange {
  /** z1, the utopia point. */
  readonly utopia: number;
  /** z2, the nadir point. */
  readonly nadir: number;
}

/** Best and worst reachable latency, in seconds. */
export interface LatencyRange {
  readonly best: number;
  readonly worst: number;
}

/** The source's example weight (section 3.3), in seconds per whole utopia-nadir range of missing quality. */
const QUALITY_PENALTY_SECONDS = 100;

/** With a shorter range (in the units of the range) noise would turn into a penalty. */
const SMALLEST_RANGE = 1e-3;

/**
 * J of Cascadia, section 3.3: latency plus `weight` times the normalised shortfall of quality. Quality in any one unit;
 * anchors in the same. For a weight large enough, a minimiser meets the floor wherever one exists.
 *
 * @example latencyUnderQuality({ latencySeconds: 11, quality: 0.88 }, { floor: 0.9, range: { utopia: 0.95, nadir: 0.75 } }) // 21
 */
export function latencyUnderQuality(
  point: { readonly latencySeconds: number; readonly quality: number },
  asked: { readonly floor: number; readonly range: QualityRange; readonly weight?: number },
): number {
  const { utopia, nadir } = asked.range;
  const shortfall = Math.max(0, asked.floor - point.quality) / Math.max(SMALLEST_RANGE, Math.abs(utopia - nadir));
  return point.latencySeconds + (asked.weight ?? QUALITY_PENALTY_SECONDS) * shortfall;
}

/**
 * The latency-constrained twin (Cascadia, appendix C), to be minimised: minus quality plus `weight` times the normalised
 * excess over the budget. The weight is in the unit of quality per whole best-worst range.
 */
export function qualityUnderLatency(
  point: { readonly latencySeconds: number; readonly quality: number },
  asked: { readonly budgetSeconds: number; readonly range: LatencyRange; readonly weight: number },
): number {
  const { best, worst } = asked.range;
  const excess = Math.max(0, point.latencySeconds - asked.budgetSeconds) / Math.max(SMALLEST_RANGE, worst - best);
  return -point.quality + asked.weight * excess;
}
