import type { ShapedReplica } from "../hardware/replicaShapes";
import type { RunningReplica } from "../plan/plan";
import { type CapacityTable, secondsOnReplicas } from "./capacityTable";
import type { ShapeCount } from "./shapeMix";

/** Replicas of one shape that run and stay. */
export type GivenShape = Pick<ShapeCount, "shape" | "count">;

/** Per model: what runs of it, nothing of which is started or stopped. */
export type GivenReplicas = readonly (readonly GivenShape[])[];

/**
 * What runs of each model among the replicas that it could have there. A replica in a shape that does not fit by the cards is left out: there
 * is no curve of it.
 *
 * @param shapes per model the replicas that fit.
 */
export function givenReplicas(
  models: readonly string[],
  shapes: readonly (readonly ShapedReplica[])[],
  running: readonly (Pick<RunningReplica, "model" | "shape"> & { readonly gpu: string })[],
): GivenReplicas {
  return models.map((model, index) =>
    (shapes[index] ?? []).flatMap(({ gpu, shape }) => {
      const count = running.filter(
        (one) => one.model === model && one.gpu === gpu && one.shape.tp === shape.tp && one.shape.pp === shape.pp,
      ).length;
      return count > 0 ? [{ shape, count }] : [];
    }),
  );
}

const gpusOf = (given: readonly GivenShape[]): number => given.reduce((sum, { shape, count }) => sum + shape.tp * shape.pp * count, 0);

/** As `latencyByGpus`, for replicas that are given: what they take at as many GPUs as they have and more, Infinity at fewer. */
export function givenLatencyByGpus(
  capacity: CapacityTable,
  requestsPerSecond: number,
  { given, into }: { readonly given: readonly GivenShape[]; readonly into: Float32Array },
): void {
  const gpus = gpusOf(given);
  into.fill(Number.POSITIVE_INFINITY);
  if (gpus > 0) into.fill(secondsOnReplicas(capacity, requestsPerSecond, given), gpus - 1);
}
