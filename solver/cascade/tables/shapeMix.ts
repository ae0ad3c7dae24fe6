import { type LoadCurve, rateWithin } from "@/solver/engine/loadCurve";
import type { ReplicaShape } from "@/solver/hardware/parallelism";

/** One replica shape on one GPU type with its load curve for some mix of requests. */
export interface ShapeCurve {
  /** GPU type. */
  readonly gpu: string;
  readonly shape: ReplicaShape;
  /** tp x pp. */
  readonly gpus: number;
  readonly curve: LoadCurve;
}

/** `count` replicas of one shape on one GPU type, each serving at most `requestsPerSecond` within the required latency. */
export interface ShapeCount {
  readonly gpu: string;
  readonly shape: ReplicaShape;
  readonly count: number;
  readonly requestsPerSecond: number;
}

/**
 * The highest rate that any multiset of shapes on at most f GPUs sustains within a latency, for f = 0..gpus (index f): an
 * unbounded knapsack over shapes. Replicas may differ (Cascadia, section 3.2, parallelism strategy search), each loaded to
 * its own limit.
 */
export function capacityWithin(shapes: readonly ShapeCurve[], limitSeconds: number, gpus: number): Float64Array {
  const capacity = new Float64Array(gpus + 1);
  for (const { gpus: size, curve } of shapes) {
    const rate = rateWithin(curve, limitSeconds);
    if (rate <= 0) continue;
    for (let f = size; f <= gpus; f += 1) {
      const value = (capacity[f - size] ?? 0) + rate;
      if (value > (capacity[f] ?? 0)) capacity[f] = value;
    }
  }
  // One more GPU never lowers capacity: it may be left idle.
  for (let f = 1; f <= gpus; f += 1) capacity[f] = Math.max(capacity[f] ?? 0, capacity[f - 1] ?? 0);
  return capacity;
}

/** The multiset of shapes behind `capacityWithin` on `gpus` GPUs; fewest GPUs among equals. */
export function shapesWithin(shapes: readonly ShapeCurve[], limitSeconds: number, gpus: number): readonly ShapeCount[] {
  const capacity = capacityWithin(shapes, limitSeconds, gpus);
  const rates = shapes.map(({ curve }) => rateWithin(curve, limitSeconds));
  const counts = shapes.map(() => 0);
  let left = capacity.indexOf(capacity[gpus] ?? 0);
  while (left > 0) {
    const used = shapes.findIndex(({ gpus: size }, index) => {
      const rate = rates[index] ?? 0;
      return (
        rate > 0 && size <= left && Math.abs((capacity[left - size] ?? 0) + rate - (capacity[left] ?? 0)) <= 1e-9 * (capacity[left] ?? 0)
      );
    });
    if (used < 0) break;
    counts[used] = (counts[used] ?? 0) + 1;
    left -= shapes[used]?.gpus ?? left;
  }
  return shapes.flatMap(({ gpu, shape }, index) => {
    const count = counts[index] ?? 0;
    return count > 0 ? [{ gpu, shape, count, requestsPerSecond: rates[index] ?? 0 }] : [];
  });
}
