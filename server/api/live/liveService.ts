import { setTimeout as sleep } from "node:timers/promises";
import type { ConnectedCluster } from "@/server/fleet/fleet";
import { boundedRange, bucketWidth } from "@/server/series/bucketWidth";
import type { RangeRequest } from "@/server/series/seriesSource";
import type { Store } from "@/server/store/store";
import type { LiveService } from "../base/clusterServices";
import { columnSource, decisionSource, frameSource } from "./liveSources";
import { streamNews } from "./newsStream";
import { plansInForce } from "./plansInForce";

/** A stream that was opened while the cluster is still coming up looks again this often. */
const lookAgainMs = 500;

export interface LiveParts {
  /** null: nothing is seen of the cluster. */
  readonly clusterOf: (clusterId: string) => Pick<ConnectedCluster, "collector" | "series"> | null;
  readonly store: Pick<Store, "applications" | "clusters">;
}

/** A cluster of which nothing is seen might be connected by then. */
const emptyEveryMs = 1_000;

/** Telemetry of connected clusters; others have none. */
export function createLiveService({ clusterOf, store }: LiveParts): LiveService {
  const collectorOf = (clusterId: string) => clusterOf(clusterId)?.collector() ?? null;

  const rangeOf = async (clusterId: string, request: RangeRequest) =>
    clusterOf(clusterId)?.series.range(request) ?? { bucketMs: request.bucketMs, atMs: [], series: [], problems: [] };

  const follow: LiveService["follow"] = async function* ({ clusterId, afterMs, signal }) {
    for (let cluster = clusterOf(clusterId); cluster !== null && !signal.aborted; cluster = clusterOf(clusterId)) {
      const collector = cluster.collector();
      if (collector !== null) return yield* collector.follow(signal, afterMs);
      await sleep(lookAgainMs, undefined, { signal }).catch(() => undefined);
    }
  };

  return {
    follow,
    async *stream({ clusterId, topics: { charts, decisions }, lastEventId = "0" }, signal) {
      const frames = () => collectorOf(clusterId)?.frames() ?? [];
      const fromNow = (own: AbortSignal) => follow({ clusterId, afterMs: frames().at(-1)?.atMs ?? 0, signal: own });
      const range = (request: RangeRequest) => rangeOf(clusterId, request);
      const sources = [frameSource({ frames, follow: fromNow, afterMs: Number(lastEventId) })];
      if (charts !== null)
        sources.push(columnSource({ charts, range, everyMs: clusterOf(clusterId)?.series.everyMs ?? emptyEveryMs, follow: fromNow }));
      if (decisions !== null)
        sources.push(decisionSource(decisions, () => collectorOf(clusterId)?.decisions(Number.MAX_SAFE_INTEGER) ?? []));
      let id = lastEventId;
      for await (const event of streamNews(sources, signal)) {
        if (event.kind === "frame") id = String(event.frame.atMs);
        yield { id, event };
      }
    },
    subjects: async (clusterId, fromMs, toMs) => clusterOf(clusterId)?.series.subjects(fromMs, toMs) ?? [],
    async range(clusterId, { points, series, ...asked }) {
      const { fromMs, toMs } = boundedRange(asked, Date.now());
      return rangeOf(clusterId, { fromMs, toMs, bucketMs: bucketWidth(toMs - fromMs, points), series });
    },
    measured: (clusterId, range) => collectorOf(clusterId)?.over(range) ?? null,
    plans(clusterId, fromMs, toMs) {
      const { runningPlanId: planId = null, runningSince: since = null } = store.clusters.get(clusterId) ?? {};
      const running = planId === null || since === null ? null : { planId, sinceMs: Date.parse(since) };
      return plansInForce({ applications: store.applications.list(clusterId), running, fromMs, toMs });
    },
  };
}
