import type { PromText } from "@/server/engines/promText";

/** What dcgm-exporter says of one GPU. null is absent, never zero. */
export interface GpuReading {
  readonly node: string;
  readonly index: number;
  /** 0..1 */
  readonly utilisation: number | null;
  readonly memoryUsedBytes: number | null;
  readonly memoryTotalBytes: number | null;
}

const BYTES_PER_MIB = 1024 * 1024;

/** Any of these names a GPU; the first listed are what its reading is made of. */
const NAMES = ["DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE"] as const;

/**
 * Reads dcgm-exporter's text. Utilisation is GR_ENGINE_ACTIVE where it is exported, else GPU_UTIL, which only says that some
 * kernel ran. There is no FB_TOTAL: the total is used + free + reserved (reserved counts as 0 only where an exporter is too
 * old to have it, which makes the total a little low).
 *
 * @returns one reading per (Hostname, gpu), in order of appearance.
 */
export function readGpus(metrics: PromText): readonly GpuReading[] {
  const keys = new Map<string, { readonly node: string; readonly index: number }>();
  const values = new Map<string, number>();
  for (const name of [...NAMES, "DCGM_FI_DEV_FB_RESERVED"]) {
    for (const { labels, value } of metrics.byName.get(name) ?? []) {
      const index = Number(labels.gpu);
      if (labels.gpu === undefined || !Number.isInteger(index) || !Number.isFinite(value)) continue;
      const node = labels.Hostname ?? "";
      const key = `${node}/${index}`;
      keys.set(key, { node, index });
      values.set(`${key} ${name}`, value);
    }
  }
  return [...keys].map(([key, gpu]) => {
    const value = (name: string): number | null => values.get(`${key} ${name}`) ?? null;
    const active = value("DCGM_FI_PROF_GR_ENGINE_ACTIVE");
    const utilPercent = value("DCGM_FI_DEV_GPU_UTIL");
    const used = value("DCGM_FI_DEV_FB_USED");
    const free = value("DCGM_FI_DEV_FB_FREE");
    return {
      ...gpu,
      utilisation: active ?? (utilPercent === null ? null : utilPercent / 100),
      memoryUsedBytes: used === null ? null : used * BYTES_PER_MIB,
      memoryTotalBytes: used === null || free === null ? null : (used + free + (value("DCGM_FI_DEV_FB_RESERVED") ?? 0)) * BYTES_PER_MIB,
    };
  });
}
