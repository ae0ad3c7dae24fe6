import type { LiveFrame, Sample } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";

/** The measuring window grows no longer than this; a plan whose p95 is beyond half of it would settle never. */
const LONGEST_WINDOW_SECONDS = 300;

/** Windows of fewer p95s than this hold mostly the answers that were quick: the slow ones of its beginning are still under way. */
const P95S_TO_SETTLE = 2;

/** How long a measuring window must be before its figures say what a plan of this p95 gives. */
const settlingSeconds = (p95Seconds: number): number => Math.min(P95S_TO_SETTLE * p95Seconds, LONGEST_WINDOW_SECONDS);

/** Figures that have not settled; `inFlight` are the requests still under way, null where that is not known. */
export interface Settling {
  readonly inFlight: number | null;
}

/**
 * Whether what is measured leans to quick answers because the window is young.
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

/** Sum of what is known; null when nothing is: a sum over gaps must not look like a low value. */
function sumKnown(values: readonly Sample[]): Sample {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}
