import { allocateExactly, type RoutingTables } from "../deploy/allocateExactly";
import { bestByTables } from "../deploy/bestByTables";
import type { Constrained } from "../deploy/constrainedDeployment";
import type { Knobs } from "../explore/exploration";
import type { Explorer } from "../explore/explorer";
import { capacityTable } from "../tables/capacityTable";
import type { GpuMix } from "../tables/gpuMix";
import type { MixTables } from "../tables/latencyTables";

/** Latency with more GPUs of one type, relative to now; null where even those do not sustain the load. */
export interface GpuPrice {
  readonly gpu: string;
  readonly more: number;
  readonly relativeLatency: number | null;
}

/** Latency of the best plan with the floor moved by so many points, relative to now; null where no plan reaches it. */
export interface QualityPrice {
  readonly points: number;
  readonly relativeLatency: number | null;
}

/** The current number of GPUs of a routing, and the objective latency. */
interface GpusAsked {
  readonly gpus: number;
  readonly latency: Knobs["latency"];
}

/** Steps by which floors are moved. */
const FLOOR_STEPS: readonly number[] = [-2, -1, 1, 2];

/**
 * The effect of more GPUs of each type on a routing with fixed thresholds: its own load curves evaluated on more GPUs, allocated again.
 * All by the same tables, so that the ratios are more accurate than the figures.
 *
 * @param types the cluster's GPU types with the GPUs of their largest node; one GPU and one such node more are evaluated.
 */
export function pricesOfGpus(
  explorer: Explorer,
  routing: number,
  { gpus, latency, types }: GpusAsked & { readonly types: readonly { readonly gpu: string; readonly nodeGpus: number }[] },
): GpuPrice[] {
  const tables = tablesOf(explorer, routing);
  const secondsWith = (gpu: string, more: number): number | null => {
    const own = { explorer, routing, tables: onMoreGpus({ explorer, tables }, gpu, more) };
    return allocateExactly(own, { gpus: gpus + more, latency })?.tableSeconds ?? null;
  };
  const now = secondsWith("", 0);
  return types.flatMap(({ gpu, nodeGpus }) =>
    [...new Set([1, nodeGpus])].map((more) => ({ gpu, more, relativeLatency: ratio(secondsWith(gpu, more), now) })),
  );
}

const tablesOf = (explorer: Explorer, routing: number): MixTables[] => explorer.rows(explorer.routing(routing)).map((row) => row.exact());

const ratio = (seconds: number | null, now: number | null): number | null => (seconds === null || now === null ? null : seconds / now);

/** The same curves evaluated on more GPUs of one type. */
export function onMoreGpus({ explorer, tables }: Pick<RoutingTables, "explorer" | "tables">, gpu: string, more: number): MixTables[] {
  const { maxGpus, mix } = explorer.input;
  return tables.map((own) => ({
    ...own,
    capacity: capacityTable(own.capacity.shapes, maxGpus + more, mix === undefined ? undefined : withMore(mix, gpu, more)),
  }));
}

const withMore = (mix: GpuMix, gpu: string, more: number): GpuMix =>
  mix.map((type) => (type.gpu === gpu ? { ...type, gpus: type.gpus + more } : type));

/** A routing's latency relative to now on another number of the cluster's GPUs; null where the load is not sustained. */
export function relativeOn(explorer: Explorer, routing: number, asked: GpusAsked & { readonly other: number }): number | null {
  const tables = tablesOf(explorer, routing);
  const secondsOn = (gpus: number): number | null =>
    allocateExactly({ explorer, routing, tables }, { gpus, latency: asked.latency })?.tableSeconds ?? null;
  return ratio(secondsOn(asked.other), secondsOn(asked.gpus));
}

/**
 * The price of a point of quality: the best by the tables with the floor moved, searched around again each time, relative to the best at
 * the current floor, each as the constraints let it be deployed. Empty without a floor or where nothing reaches it. Leaves the explorer as
 * after its search.
 */
export function pricesOfQuality(input: Constrained, knobs: Knobs): QualityPrice[] {
  const { explorer } = input;
  const { qualityFloor } = knobs;
  if (qualityFloor === null) return [];
  const secondsAt = (floor: number): number | null => {
    explorer.search();
    explorer.focus({ floor, budgetSeconds: knobs.latencyBudgetSeconds });
    const { candidate } = bestByTables(input, { ...knobs, qualityFloor: floor }, { sought: "best", routing: null });
    return candidate?.latencySeconds ?? null;
  };
  const now = secondsAt(qualityFloor);
  const prices = FLOOR_STEPS.flatMap((points) => {
    const floor = qualityFloor + points;
    if (now === null || floor < 0 || floor > 100) return [];
    return [{ points, relativeLatency: ratio(secondsAt(floor), now) }];
  });
  explorer.search();
  return prices;
}
