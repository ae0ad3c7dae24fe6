import { allocateExactly } from "./allocateExactly";
import { capacityTable } from "./capacityTable";
import { choose } from "./choose";
import type { Knobs } from "./exploration";
import type { Explorer } from "./explore";
import type { GpuMix } from "./gpuMix";

/** Latency with GPUs more of one type, relative to now; null where even those do not keep up. */
export interface GpuPrice {
  readonly gpu: string;
  readonly more: number;
  readonly relativeLatency: number | null;
}

/** Latency of the best plan with the floor moved by so many points, relative to now; null where nothing reaches it. */
export interface QualityPrice {
  readonly points: number;
  readonly relativeLatency: number | null;
}

/** By how much floors are moved. */
const FLOOR_STEPS: readonly number[] = [-2, -1, 1, 2];

/**
 * What GPUs more of each type would bring to a routing whose thresholds stay: its own load curves counted on more GPUs, allocated anew.
 * All by the same tables, so that the ratios hold better than the figures.
 *
 * @param types the cluster's GPU types with the GPUs of their largest node; asked are one GPU and one such node more.
 */
export function gpuPrices(
  explorer: Explorer,
  routing: number,
  {
    gpus,
    latency,
    types,
  }: {
    readonly gpus: number;
    readonly latency: Knobs["latency"];
    readonly types: readonly { readonly gpu: string; readonly nodeGpus: number }[];
  },
): GpuPrice[] {
  const { maxGpus, mix } = explorer.input;
  const cascade = explorer.routing(routing);
  const tables = explorer.mixes(cascade).map((own, stage) => explorer.tables.exact(cascade.stages[stage] ?? 0, own));
  const secondsWith = (gpu: string, more: number): number | null => {
    const counted = tables.map((own) => ({
      ...own,
      capacity: capacityTable(own.capacity.shapes, maxGpus + more, mix === undefined ? undefined : withMore(mix, gpu, more)),
    }));
    return allocateExactly({ explorer, routing, tables: counted }, { gpus: gpus + more, latency })?.tableSeconds ?? null;
  };
  const now = secondsWith("", 0);
  return types.flatMap(({ gpu, nodeGpus }) =>
    [...new Set([1, nodeGpus])].map((more) => ({ gpu, more, relativeLatency: ratio(secondsWith(gpu, more), now) })),
  );
}

const ratio = (seconds: number | null, now: number | null): number | null => (seconds === null || now === null ? null : seconds / now);

const withMore = (mix: GpuMix, gpu: string, more: number): GpuMix =>
  mix.map((type) => (type.gpu === gpu ? { ...type, gpus: type.gpus + more } : type));

/**
 * What a point of quality costs: the best by the tables with the floor moved, searched around anew each time, relative to the best at
 * the floor as it is. Empty where no floor is asked or nothing reaches it. Leaves the explorer as after its search.
 */
export function qualityPrices(explorer: Explorer, knobs: Knobs): QualityPrice[] {
  const { qualityFloor } = knobs;
  if (qualityFloor === null) return [];
  const secondsAt = (floor: number): number | null => {
    explorer.search();
    explorer.focus({ floor, budgetSeconds: knobs.latencyBudgetSeconds });
    return choose(explorer.exploration(), { ...knobs, qualityFloor: floor }).chosen?.latencySeconds ?? null;
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
