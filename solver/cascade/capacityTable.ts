import { rateWithin } from "./loadCurve";
import { capacityWithin, type ShapeCount, type ShapeCurve, shapesWithin } from "./shapeMix";

/** Latency levels between the lowest and the highest latency of the curves, a few per cent apart. */
const LEVELS = 72;

/** Halvings that bring the latency of a reconstructed multiset to a part in 10^9. */
const REFINEMENTS = 30;

/**
 * For one model and one mix of requests: the rate that f GPUs sustain within L, for all f and a ladder of L. Made once; any
 * stage with this mix reads its latency by GPU count l_i(f) off it, whatever its rate.
 */
export interface CapacityTable {
  readonly shapes: readonly ShapeCurve[];
  /** Ascending. */
  readonly levels: Float64Array;
  /** Per level, index f. */
  readonly capacity: readonly Float64Array[];
}

export function capacityTable(shapes: readonly ShapeCurve[], gpus: number): CapacityTable {
  const seconds = shapes.flatMap(({ curve }) => [...curve.seconds]);
  const lowest = Math.min(...seconds);
  const highest = Math.max(...seconds);
  const ratio = (highest / lowest) ** (1 / (LEVELS - 1));
  const levels =
    shapes.length === 0
      ? new Float64Array()
      : Float64Array.from({ length: LEVELS }, (_, level) => (level === LEVELS - 1 ? highest : lowest * ratio ** level));
  return { shapes, levels, capacity: Array.from(levels, (limit) => capacityWithin(shapes, limit, gpus)) };
}

/**
 * l_i(f) of the source for f = 1..gpus at index f - 1: the smallest latency percentile at which f GPUs sustain the rate, linear
 * in the rate between levels; Infinity where none does. Non-increasing in f.
 */
export function latencyByGpus({ levels, capacity }: CapacityTable, requestsPerSecond: number, into: Float32Array | Float64Array): void {
  let level = levels.length - 1;
  for (let f = 1; f <= into.length; f += 1) {
    if ((capacity[level]?.[f] ?? 0) < requestsPerSecond) {
      into[f - 1] = Number.POSITIVE_INFINITY;
      continue;
    }
    while (level > 0 && (capacity[level - 1]?.[f] ?? 0) >= requestsPerSecond) level -= 1;
    const high = levels[level] ?? 0;
    if (level === 0) {
      into[f - 1] = high;
      continue;
    }
    const low = levels[level - 1] ?? high;
    const below = capacity[level - 1]?.[f] ?? 0;
    const above = capacity[level]?.[f] ?? 0;
    into[f - 1] = low + ((requestsPerSecond - below) / (above - below)) * (high - low);
  }
}

/** The replicas that serve a rate on f GPUs at the smallest latency, with that latency; null where none keep up. */
export function replicasFor(
  table: CapacityTable,
  requestsPerSecond: number,
  gpus: number,
): { readonly seconds: number; readonly replicas: readonly ShapeCount[] } | null {
  const { levels, shapes } = table;
  const sustains = (limit: number): boolean => (capacityWithin(shapes, limit, gpus)[gpus] ?? 0) >= requestsPerSecond;
  const top = levels[levels.length - 1];
  if (top === undefined || !sustains(top)) return null;
  const high = leastThat(sustains, top);
  return { seconds: high, replicas: shapesWithin(shapes, high, gpus) };
}

/**
 * The latency at which given replicas serve a rate, the load spread so that all have the same latency; Infinity where they do not
 * keep up within the loads that were simulated.
 */
export function secondsOnReplicas({ levels, shapes }: CapacityTable, requestsPerSecond: number, replicas: readonly ShapeCount[]): number {
  const sustains = (limit: number): boolean => {
    const rate = replicas.reduce((sum, { shape, count }) => {
      const own = shapes.find((candidate) => candidate.shape === shape);
      return own === undefined ? sum : sum + count * rateWithin(own.curve, limit);
    }, 0);
    return rate >= requestsPerSecond;
  };
  const top = levels[levels.length - 1] ?? 0;
  return sustains(top) ? leastThat(sustains, top) : Number.POSITIVE_INFINITY;
}

/** The least limit in (0, top] that sustains; `top` does. */
function leastThat(sustains: (limit: number) => boolean, top: number): number {
  let low = 0;
  let high = top;
  for (let step = 0; step < REFINEMENTS; step += 1) {
    const middle = (low + high) / 2;
    if (sustains(middle)) high = middle;
    else low = middle;
  }
  return high;
}
