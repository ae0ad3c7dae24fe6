import { GRACE_STEP_SECONDS, type Grace } from "../../plan/grace";

/** How far overload has lowered one threshold, and when it may move again. */
export interface GraceFall {
  /** Points below the plan's threshold. */
  readonly points: number;
  /** When it left the plan's threshold; null: it has that. */
  readonly sinceSeconds: number | null;
  /** Up to when queues are accounted for. */
  readonly atSeconds: number;
  /** No step down before. */
  readonly nextFallSeconds: number;
  /** The next step back; Infinity while queues are not short. */
  readonly nextReturnSeconds: number;
}

/** A threshold of the plan. */
export const noFall: GraceFall = {
  points: 0,
  sinceSeconds: null,
  atSeconds: Number.NEGATIVE_INFINITY,
  nextFallSeconds: Number.NEGATIVE_INFINITY,
  nextReturnSeconds: Number.POSITIVE_INFINITY,
};

/** A time during which so many requests wait for the most crowded later stage. */
export interface GraceSpan {
  readonly waiting: number;
  readonly untilSeconds: number;
}

/**
 * The fall after a span. A step down is taken at once when more wait than the bound, then one each second up to `mostPoints`; a step back
 * after `holdSeconds` with no more than `calm`, then one each second. In between nothing moves. The result does not depend on how a span is
 * cut into shorter ones, and a longer queue never gives a smaller fall. A span that ends in the past changes nothing.
 */
export function fallAfter(before: GraceFall, { waiting, untilSeconds }: GraceSpan, grace: Grace, mostPoints: number): GraceFall {
  const { atSeconds } = before;
  let { points, sinceSeconds, nextFallSeconds, nextReturnSeconds } = before;
  if (!(untilSeconds >= atSeconds)) return before;
  // Nothing is known of the time before the first event.
  const fromSeconds = atSeconds === Number.NEGATIVE_INFINITY ? untilSeconds : atSeconds;
  if (waiting > grace.calm) nextReturnSeconds = Number.POSITIVE_INFINITY;
  if (waiting > grace.waiting) {
    let step = Math.max(nextFallSeconds, fromSeconds);
    while (points < mostPoints && step <= untilSeconds) {
      sinceSeconds ??= step;
      points = Math.min(mostPoints, points + grace.pointsPerSecond);
      step += GRACE_STEP_SECONDS;
      nextFallSeconds = step;
    }
  } else if (waiting <= grace.calm) {
    if (nextReturnSeconds === Number.POSITIVE_INFINITY) nextReturnSeconds = fromSeconds + grace.holdSeconds;
    while (points > 0 && nextReturnSeconds <= untilSeconds) {
      points = Math.max(0, points - grace.pointsPerSecond);
      nextReturnSeconds += GRACE_STEP_SECONDS;
    }
    if (points === 0) sinceSeconds = null;
  }
  return { points, sinceSeconds, atSeconds: untilSeconds, nextFallSeconds, nextReturnSeconds };
}
