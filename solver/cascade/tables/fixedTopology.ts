import type { ShapedReplica } from "@/solver/hardware/replicaShapes";
import type { RunningReplica } from "@/solver/plan/clusterSpec";
import { type CapacityTable, secondsOnReplicas } from "./capacityTable";
import type { ShapeCount } from "./shapeMix";

/** Running replicas of one shape that stay. */
export type FixedShape = Pick<ShapeCount, "shape" | "count">;

/** Per model: its running replicas, none of which is started or stopped. */
export type FixedTopology = readonly (readonly FixedShape[])[];

/**
 * The running replicas of each model among its possible ones. A replica in a shape that does not fit by the cards is left out: there
 * is no curve of it.
 *
 * @param shapes per model the replicas that fit.
 */
export function fixedTopology(
  models: readonly string[],
  shapes: readonly (readonly ShapedReplica[])[],
  running: readonly (Pick<RunningReplica, "model" | "shape"> & { readonly gpu: string })[],
): FixedTopology {
  return models.map((model, index) =>
    (shapes[index] ?? []).flatMap(({ gpu, shape }) => {
      const count = running.filter(
        (one) => one.model === model && one.gpu === gpu && one.shape.tp === shape.tp && one.shape.pp === shape.pp,
      ).length;
      return count > 0 ? [{ shape, count }] : [];
    }),
  );
}

const gpusOf = (fixed: readonly FixedShape[]): number => fixed.reduce((sum, { shape, count }) => sum + shape.tp * shape.pp * count, 0);

/** As `latencyByGpus`, for fixed replicas: their latency at their number of GPUs and more, Infinity at fewer. */
export function latencyOnFixedTopology(
  capacity: CapacityTable,
  requestsPerSecond: number,
  { fixed, into }: { readonly fixed: readonly FixedShape[]; readonly into: Float32Array },
): void {
  const gpus = gpusOf(fixed);
  into.fill(Number.POSITIVE_INFINITY);
  if (gpus > 0) into.fill(secondsOnReplicas(capacity, requestsPerSecond, fixed), gpus - 1);
}
