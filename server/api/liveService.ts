import { setTimeout as sleep } from "node:timers/promises";
import { type EmbeddedCluster, embeddedClusterId } from "@/server/clusters/embeddedCluster";
import { boundedRange, bucketWidth } from "@/server/series/bucketWidth";
import type { RangeRequest, SeriesSource } from "@/server/series/seriesSource";
import type { Store } from "@/server/store/store";
import { columnSource, decisionSource, frameSource } from "./liveSources";
import { streamNews } from "./newsStream";
import { plansInForce } from "./plansInForce";
import type { LiveService } from "./services";

/** A stream that was opened while the cluster is still coming up looks again this often. */
const lookAgainMs = 500;

export interface LiveParts {
  readonly embedded: Pick<EmbeddedCluster, "collector">;
  readonly series: SeriesSource;
  readonly store: Pick<Store, "applications" | "clusters">;
}

/** Telemetry of the embedded cluster; other clusters have none. */
export function createLiveService({ embedded, series, store }: LiveParts): LiveService {
  const collectorOf = (clusterId: string) => (clusterId === embeddedClusterId ? embedded.collector() : null);

  const rangeOf = (clusterId: string, request: RangeRequest) =>
    series.range(clusterId === embeddedClusterId ? request : { ...request, series: [] });

  const follow: LiveService["follow"] = async function* ({ clusterId, afterMs, signal }) {
    if (clusterId !== embeddedClusterId) return;
    while (embedded.collector() === null && !signal.aborted) await sleep(lookAgainMs, undefined, { signal }).catch(() => undefined);
    const collector = embedded.collector();
    if (collector !== null) yield* collector.follow(signal, afterMs);
  };

  return {
    follow,
    async *stream({ clusterId, topics: { charts, decisions }, lastEventId = "0" }, signal) {
      const frames = () => collectorOf(clusterId)?.frames() ?? [];
      const fromNow = (own: AbortSignal) => follow({ clusterId, afterMs: frames().at(-1)?.atMs ?? 0, signal: own });
      const range = (request: RangeRequest) => rangeOf(clusterId, request);
      const sources = [frameSource({ frames, follow: fromNow, afterMs: Number(lastEventId) })];
      if (charts !== null) sources.push(columnSource({ charts, range, everyMs: series.everyMs, follow: fromNow }));
      if (decisions !== null)
        sources.push(decisionSource(decisions, () => collectorOf(clusterId)?.decisions(Number.MAX_SAFE_INTEGER) ?? []));
      let id = lastEventId;
      for await (const event of streamNews(sources, signal)) {
        if (event.kind === "frame") id = String(event.frame.atMs);
        yield { id, event };
      }
    },
    subjects: async (clusterId, fromMs, toMs) => (clusterId === embeddedClusterId ? series.subjects(fromMs, toMs) : []),
    async range(clusterId, { points, series, ...asked }) {
      const { fromMs, toMs } = boundedRange(asked, Date.now());
      return rangeOf(clusterId, { fromMs, toMs, bucketMs: bucketWidth(toMs - fromMs, points), series });
    },
    plans(clusterId, fromMs, toMs) {
      const { runningPlanId: planId = null, runningSince: since = null } = store.clusters.get(clusterId) ?? {};
      const running = planId === null || since === null ? null : { planId, sinceMs: Date.parse(since) };
      return plansInForce({ applications: store.applications.list(clusterId), running, fromMs, toMs });
    },
  };
}
