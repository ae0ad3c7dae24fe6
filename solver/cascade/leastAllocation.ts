import { minMaxAllocation } from "../milp/bisection";
import { weightedAllocation } from "../milp/weightedAllocation";
import { STARVATION_LIMIT } from "./allocate";
import { latencyByGpus } from "./capacityTable";
import type { Knobs } from "./exploration";
import type { Explorer, RoutedCascade } from "./explore";
import type { MixTables } from "./latencyTables";

/** GPUs per stage, and the objective's latency in seconds by the tables. */
export interface LeastAllocation {
  readonly gpus: readonly number[];
  readonly seconds: number;
}

/**
 * The planner's own allocation of GPUs on given tables of a cascade's own requests: the least largest stage latency, or the least
 * end-to-end percentile with no stage starved. null where the GPUs do not keep up with the rate.
 */
export function leastAllocation(
  explorer: Explorer,
  cascade: RoutedCascade,
  on: {
    readonly tables: readonly MixTables[];
    readonly requestsPerSecond: number;
    readonly gpus: number;
    readonly latency: Knobs["latency"];
  },
): LeastAllocation | null {
  const seconds = on.tables.map(({ capacity }, stage) => {
    const own = new Float64Array(on.gpus);
    latencyByGpus(capacity, on.requestsPerSecond * (cascade.routed.share[stage] ?? 0), own);
    return own;
  });
  const even = minMaxAllocation(seconds, on.gpus);
  if (even === null) return null;
  if (on.latency === "largest-stage") return { gpus: even.gpus, seconds: even.latencySeconds };
  const at = (gpus: readonly number[]) => seconds.map((own, stage) => own[(gpus[stage] ?? 1) - 1] ?? Number.POSITIVE_INFINITY);
  const { weights } = explorer.compose(cascade, at(even.gpus), on.tables);
  const stageLimitSeconds = STARVATION_LIMIT * even.latencySeconds;
  const { gpus } = weightedAllocation(seconds, on.gpus, { weights, stageLimitSeconds }) ?? even;
  return { gpus, seconds: explorer.compose(cascade, at(gpus), on.tables).seconds };
}
