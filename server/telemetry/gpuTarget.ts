import type { GpuSourceFrame } from "@/server/contracts/studio";
import type { Clock } from "./clock";
import { type GpuReading, readGpus } from "./gpuMapping";
import { askNvidiaSmi } from "./nvidiaSmi";
import { type ScrapeFailure, scrapeMetrics } from "./scrape";
import type { ScrapeFacts } from "./studioMetrics";
import { createTargetHealth, type TargetHealth } from "./targetHealth";

/** Where GPUs are read from: an exporter, or this host's own tool. */
export type GpuSource =
  | { readonly kind: "dcgm-exporter"; readonly url: string }
  | { readonly kind: "nvidia-smi"; readonly command: string };

export interface GpuTargetOptions {
  readonly intervalMs: number;
  readonly clock: Clock;
  /** Node of GPUs without a node label. */
  readonly node: () => string;
  readonly onScrape: (facts: ScrapeFacts) => void;
}

/** A watched source of GPU figures. */
export interface GpuTarget extends Pick<TargetHealth, "isDue" | "isFailing"> {
  /** Reads once; the previous reading has ended. Never throws. */
  poll(): Promise<void>;
  /** All GPUs it ever reported, whose values are null once they are too old to show; null as source: this host has no such tool. */
  frame(): { readonly gpus: readonly GpuReading[]; readonly source: GpuSourceFrame | null };
}

/** nvidia-smi takes a second or two if the driver is not kept loaded. */
const SMI_TIMEOUT_MS = 5_000;

type Read = { readonly ok: true; readonly readings: readonly GpuReading[]; readonly badLines: number } | ScrapeFailure;

/** Watches an exporter, or this host's GPUs. */
export function createGpuTarget(source: GpuSource, { intervalMs, clock, node, onScrape }: GpuTargetOptions): GpuTarget {
  const health = createTargetHealth({ intervalMs, clock });
  let readings: readonly GpuReading[] = [];
  let missing = false;

  const read = async (): Promise<Read | null> => {
    if (source.kind === "nvidia-smi") {
      const result = await askNvidiaSmi({ command: source.command, timeoutMs: SMI_TIMEOUT_MS, node: node() });
      if (result.ok) return { ...result, badLines: 0 };
      return result.kind === "missing" ? null : result;
    }
    const { url } = source;
    const result = await scrapeMetrics(url, { timeoutMs: 2 * intervalMs });
    if (!result.ok) return result;
    const gpus = readGpus(result.metrics, node());
    if (gpus.length === 0) return { ok: false, kind: "unreadable", reason: `${url} tells of no GPU` };
    return { ok: true, readings: gpus, badLines: result.metrics.badLines };
  };

  return {
    isDue: () => !missing && health.isDue(),
    isFailing: health.isFailing,
    async poll() {
      const startedAtMs = clock.steadyMs();
      const result = await read();
      if (result === null) {
        missing = true;
        return;
      }
      if (result.ok) {
        readings = result.readings;
        health.succeeded();
      } else health.failed(result, startedAtMs);
      onScrape({ kind: "gpu", seconds: (clock.steadyMs() - startedAtMs) / 1000, ok: result.ok, badLines: result.ok ? result.badLines : 0 });
    },
    frame() {
      if (missing) return { gpus: [], source: null };
      const state = health.state();
      return {
        gpus: state.state === "unreachable" ? readings.map(unknown) : readings,
        source: { kind: source.kind, name: source.kind === "nvidia-smi" ? source.command : source.url, ...state },
      };
    },
  };
}

const unknown = (gpu: GpuReading): GpuReading => ({
  ...gpu,
  utilisation: null,
  memoryUsedBytes: null,
  memoryTotalBytes: null,
  powerWatts: null,
  temperatureCelsius: null,
});
