import type { MixShape } from "./problem";

/** A lower bound on requests in flight: at least `slope` x work a second + `intercept` for each replica. */
export interface InFlightBound {
  /** Request seconds for a unit of work. */
  readonly slope: number;
  /** Requests; 0 or less. */
  readonly intercept: number;
}

const MOST_BOUNDS = 5;

/**
 * Requests in flight of a shape as linear bounds on the work that its replicas do. Throughput is concave in the requests in flight, so
 * these are convex in the work, and those of n replicas that share work w evenly are n b(w / n) = max(slope w + intercept n): linear in both.
 * By Little's law, requests in flight are the rate times the mean time, without the time in the queue.
 */
export function inFlightBounds({ curve }: MixShape): readonly InFlightBound[] {
  const hull = thinned(concaveHull(curve));
  return hull.slice(1).flatMap(({ inFlight, workPerSecond }, at) => {
    const before = hull[at] ?? { inFlight: 0, workPerSecond: 0 };
    const slope = (inFlight - before.inFlight) / (workPerSecond - before.workPerSecond);
    return [{ slope, intercept: Math.min(0, before.inFlight - slope * before.workPerSecond) }];
  });
}

type Point = MixShape["curve"][number];

/** The corners of the least concave curve above one that begins at nothing. */
function concaveHull(curve: readonly Point[]): readonly Point[] {
  const hull: Point[] = [{ inFlight: 0, workPerSecond: 0 }];
  for (const point of curve) {
    if (point.workPerSecond <= (hull.at(-1)?.workPerSecond ?? 0)) continue;
    while (hull.length > 1 && isBelow(hull.at(-2), hull.at(-1), point)) hull.pop();
    hull.push(point);
  }
  return hull;
}

/** Whether the middle point lies on or below the line of the other two. */
function isBelow(first: Point | undefined, middle: Point | undefined, last: Point): boolean {
  if (first === undefined || middle === undefined) return false;
  const over = (one: Point): readonly [number, number] => [one.inFlight - first.inFlight, one.workPerSecond - first.workPerSecond];
  const [x, y] = over(middle);
  const [endX, endY] = over(last);
  return y * endX <= endY * x;
}

/** Some of the corners with the first and the last: each line between two of them lies below the curve in work. */
function thinned(hull: readonly Point[]): readonly Point[] {
  const last = hull.length - 1;
  const kept = Math.min(last, MOST_BOUNDS);
  return kept < 1
    ? hull
    : Array.from({ length: kept + 1 }, (_, at) => hull[Math.round((at * last) / kept)] ?? hull[0]).flatMap((one) => one ?? []);
}
