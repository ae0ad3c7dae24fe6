import { latencyByGpus, replicasFor } from "../cascade/tables/capacityTable";
import type { MixTables } from "../cascade/tables/latencyTables";
import type { Mix } from "../cascade/tables/mix";
import { shapesWithin } from "../cascade/tables/shapeMix";
import type { SystemStage } from "./system";

/** A baseline that cannot sustain the load is deployed for this share of the rate, repeatedly, until it can. */
const LOWER_RATE = 0.9;

/** Below this share of the requested rate a deployment is no longer meaningful for it. */
const LEAST_RATE_SHARE = 0.02;

/**
 * The result of `make` at the highest rate, from the requested one downwards, at which it has one: how an overloaded baseline is deployed.
 */
export function atSustainedRate<Found>(requestsPerSecond: number, make: (requestsPerSecond: number) => Found | null): Found | null {
  for (let rate = requestsPerSecond; rate > LEAST_RATE_SHARE * requestsPerSecond; rate *= LOWER_RATE) {
    const found = make(rate);
    if (found !== null) return found;
  }
  return null;
}

/** Seconds by GPU count of each stage with its own tables. */
export function stageSeconds(
  tables: readonly MixTables[],
  mixes: readonly Pick<Mix, "share">[],
  { requestsPerSecond, gpus }: { readonly requestsPerSecond: number; readonly gpus: number },
): Float64Array[] {
  return tables.map(({ capacity }, stage) => {
    const seconds = new Float64Array(gpus);
    latencyByGpus(capacity, requestsPerSecond * (mixes[stage]?.share ?? 0), seconds);
    return seconds;
  });
}

/**
 * The replicas that serve a stage on its GPUs at the least latency: the planner's own choice of shapes. Where none sustains the load, those
 * with the highest rate. null where no replica fits the GPUs.
 */
export function tunedStage(
  model: string,
  { capacity }: MixTables,
  { requestsPerSecond, gpus }: { readonly requestsPerSecond: number; readonly gpus: number },
): SystemStage | null {
  const top = capacity.levels[capacity.levels.length - 1] ?? 0;
  const replicas = replicasFor(capacity, requestsPerSecond, gpus)?.replicas ?? shapesWithin(capacity.shapes, top, gpus);
  return replicas.length === 0 ? null : { model, replicas };
}
