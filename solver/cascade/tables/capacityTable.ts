import { rateWithin } from "@/solver/engine/loadCurve";
import { type GpuMix, gpusByType } from "./gpuMix";
import { capacityWithin, type ShapeCount, type ShapeCurve, shapesWithin } from "./shapeMix";

/** Latency levels between the lowest and the highest latency of the curves, a few per cent apart. */
const LEVELS = 72;

/** Number of bisection steps that determine the latency of a reconstructed multiset to a part in 10^9. */
const REFINEMENTS = 30;

/**
 * For one model and one mix of requests: the rate that f GPUs sustain within L, for all f and a ladder of L. Made once; any
 * stage with this mix reads its latency by GPU count l_i(f) off it, whatever its rate.
 */
export interface CapacityTable {
  readonly shapes: readonly ShapeCurve[];
  /** The shapes by GPU type. */
  readonly pools: readonly Pool[];
  /** Ascending. */
  readonly levels: Float64Array;
  /** Per level, index f. */
  readonly capacity: readonly Float64Array[];
}

interface Pool {
  readonly shapes: readonly ShapeCurve[];
  /** GPUs of this type among f GPUs of the cluster, index f. */
  readonly gpus: Int32Array;
}

/** @param mix for GPUs of several types: the number of each, `gpus` in total. f of them are then divided in the same proportions. */
export function capacityTable(shapes: readonly ShapeCurve[], gpus: number, mix?: GpuMix): CapacityTable {
  const seconds = shapes.flatMap(({ curve }) => [...curve.seconds]);
  const lowest = Math.min(...seconds);
  const highest = Math.max(...seconds);
  const ratio = (highest / lowest) ** (1 / (LEVELS - 1));
  const levels =
    shapes.length === 0
      ? new Float64Array()
      : Float64Array.from({ length: LEVELS }, (_, level) => (level === LEVELS - 1 ? highest : lowest * ratio ** level));
  const pools = poolsOf(shapes, gpus, mix);
  return { shapes, pools, levels, capacity: Array.from(levels, (limit) => capacityOf(pools, limit, gpus)) };
}

function poolsOf(shapes: readonly ShapeCurve[], gpus: number, mix: GpuMix | undefined): readonly Pool[] {
  if (mix === undefined) return [{ shapes, gpus: Int32Array.from({ length: gpus + 1 }, (_, f) => f) }];
  const byType = gpusByType(mix);
  return mix.map(({ gpu }, type) => ({ shapes: shapes.filter((one) => one.gpu === gpu), gpus: byType[type] ?? new Int32Array() }));
}

/** The rate that f = 0..gpus GPUs sustain within a latency: a knapsack for each type. */
function capacityOf(pools: readonly Pool[], limitSeconds: number, gpus: number): Float64Array {
  const own = pools.map((pool) => capacityWithin(pool.shapes, limitSeconds, pool.gpus[gpus] ?? 0));
  const [only] = own;
  if (own.length === 1 && only !== undefined) return only;
  return Float64Array.from({ length: gpus + 1 }, (_, f) =>
    pools.reduce((sum, pool, type) => sum + (own[type]?.[pool.gpus[f] ?? 0] ?? 0), 0),
  );
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

/** The same for a hosted model, which has one replica and takes no GPUs: its latency on any number of GPUs. */
export function latencyOfHosted(table: CapacityTable, requestsPerSecond: number, into: Float32Array | Float64Array): void {
  const one = new Float64Array(1);
  latencyByGpus(table, requestsPerSecond, one);
  into.fill(one[0] ?? Number.POSITIVE_INFINITY);
}

/** The replicas that serve a rate on f GPUs at the smallest latency, with that latency; null where none sustain it. */
export function replicasFor(
  table: CapacityTable,
  requestsPerSecond: number,
  gpus: number,
): { readonly seconds: number; readonly replicas: readonly ShapeCount[] } | null {
  const { levels, pools } = table;
  const sustains = (limit: number): boolean => (capacityOf(pools, limit, gpus)[gpus] ?? 0) >= requestsPerSecond;
  const top = levels[levels.length - 1];
  if (top === undefined || !sustains(top)) return null;
  const high = leastThat(sustains, top);
  return { seconds: high, replicas: pools.flatMap((pool) => shapesWithin(pool.shapes, high, pool.gpus[gpus] ?? 0)) };
}

/**
 * The latency at which given replicas serve a rate, the load spread so that all have the same latency; Infinity where they do not
 * sustain it within the loads that were simulated.
 */
export function secondsOnReplicas(
  { levels, shapes }: CapacityTable,
  requestsPerSecond: number,
  replicas: readonly Pick<ShapeCount, "shape" | "count">[],
): number {
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
