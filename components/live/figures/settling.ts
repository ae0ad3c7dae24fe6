import type { LiveFrame, Sample } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";

/** Maximum length of the measuring window; a plan whose p95 is beyond half of it would never settle. */
const LONGEST_WINDOW_SECONDS = 300;

/** Windows of fewer p95s than this mostly hold the quick answers: the slow ones from its beginning are still in flight. */
const P95S_TO_SETTLE = 2;

/** The minimum length of a measuring window for a plan with this p95. */
const settlingSeconds = (p95Seconds: number): number => Math.min(P95S_TO_SETTLE * p95Seconds, LONGEST_WINDOW_SECONDS);

/** Figures that have not settled; `inFlight` are the requests still in flight, null where that is not known. */
export interface Settling {
  readonly inFlight: number | null;
}

/**
 * Whether the measurements are biased to quick answers because the window is young.
 *
 * @returns null when the figures have settled or no plan says how long
 * answers take.
 */
export function settling(frame: LiveFrame, plan: Plan | null): Settling | null {
  if (plan === null || frame.planId !== plan.id) return null;
  const { windowSeconds } = frame.measured;
  const { stages, queuedForAny } = frame.gateway;
  const ofStages = sumKnown(stages.flatMap((stage) => [stage.queued, stage.inFlight]));
  const inFlight = ofStages === null ? null : ofStages + (queuedForAny ?? 0);
  if (windowSeconds >= settlingSeconds(plan.predictions.p95Seconds)) return null;
  return frame.measured.requests === 0 && (inFlight ?? 0) === 0 ? null : { inFlight };
}

/** Sum of the known values; null when there are none: a sum over gaps must not look like a low value. */
function sumKnown(values: readonly Sample[]): Sample {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}
