import { parsePromText } from "@/server/engines/promText";
import { freshness } from "./freshness";
import { type GpuReading, readGpus } from "./gpuMapping";
import { type ScrapeResult, scrape } from "./scrape";

/** One watched dcgm-exporter. */
export interface GpuTarget {
  /** Scrapes once; returns at once when the scrape before is still under way. Never throws. */
  poll(): Promise<void>;
  /** GPUs it ever told of; their values are null once they are too old to show. */
  readings(): readonly GpuReading[];
}

/** Watches the exporter whose text is at `url`. */
export function createGpuTarget(url: string, options: { readonly intervalMs: number; readonly now: () => number }): GpuTarget {
  const { intervalMs, now } = options;
  let polling = false;
  let last: { readonly atMs: number; readonly readings: readonly GpuReading[] } | null = null;
  let failure: Exclude<ScrapeResult, { ok: true }> | null = null;
  return {
    async poll() {
      if (polling) return;
      polling = true;
      const result = await scrape(url, { timeoutMs: 2 * intervalMs });
      polling = false;
      failure = result.ok ? null : result;
      if (result.ok) last = { atMs: now(), readings: readGpus(parsePromText(result.text)) };
    },
    readings() {
      if (last === null) return [];
      const { state } = freshness({ nowMs: now(), intervalMs, lastGoodAtMs: last.atMs, failure });
      if (state !== "unreachable") return last.readings;
      return last.readings.map((gpu) => ({ ...gpu, utilisation: null, memoryUsedBytes: null, memoryTotalBytes: null }));
    },
  };
}
