import { setTimeout as sleep } from "node:timers/promises";
import { type EmbeddedCluster, embeddedClusterId } from "@/server/clusters/embeddedCluster";
import type { SeriesSource } from "@/server/series/seriesSource";
import type { LiveService } from "./services";

/** A stream that was opened while the cluster is still coming up looks again this often. */
const lookAgainMs = 500;

/** Telemetry of the embedded cluster; other clusters have none. */
export function createLiveService(embedded: EmbeddedCluster, series: SeriesSource): LiveService {
  const collectorOf = (clusterId: string) => (clusterId === embeddedClusterId ? embedded.collector() : null);
  return {
    history: (clusterId) => collectorOf(clusterId)?.frames() ?? [],
    async *follow({ clusterId, afterMs, signal }) {
      if (clusterId !== embeddedClusterId) return;
      while (embedded.collector() === null && !signal.aborted) await sleep(lookAgainMs, undefined, { signal }).catch(() => undefined);
      const collector = embedded.collector();
      if (collector !== null) yield* collector.follow(signal, afterMs);
    },
    decisions: (clusterId, limit) => collectorOf(clusterId)?.decisions(limit) ?? [],
    subjects: async (clusterId, fromMs, toMs) => (clusterId === embeddedClusterId ? series.subjects(fromMs, toMs) : []),
    range: async (clusterId, request) => series.range(clusterId === embeddedClusterId ? request : { ...request, series: [] }),
  };
}
