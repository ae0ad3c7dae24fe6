import { setTimeout as sleep } from "node:timers/promises";
import type { LiveEvent, LiveFrame, MeasuredRange, PlanInForce } from "@/server/contracts/studio";
import type { SeriesRange } from "@/server/contracts/studio/seriesRange";
import type { ConnectedCluster } from "@/server/fleet/fleet";
import { boundedRange, bucketWidth } from "@/server/series/bucketWidth";
import type { RangeRequest } from "@/server/series/seriesSource";
import type { StoredApplication } from "@/server/store/applicationRepository";
import type { Store } from "@/server/store/store";
import type { LiveRangeRequest, LiveStreamRequest, MeasuredRangeRequest } from "../base/inputs";
import { columnSource, decisionSource, frameSource } from "./liveSources";
import { streamNews } from "./newsStream";

/** Interval at which a stream that was opened during the cluster's start checks again. */
const lookAgainMs = 500;

export interface LiveParts {
  /** null: the cluster is not observed. */
  readonly clusterOf: (clusterId: string) => Pick<ConnectedCluster, "collector" | "series"> | null;
  readonly store: Pick<Store, "applications" | "clusters">;
}

/** A cluster that is not observed might be connected by then. */
const emptyEveryMs = 1_000;

/** Telemetry of connected clusters; others have none. */
export function createLiveService({ clusterOf, store }: LiveParts) {
  const collectorOf = (clusterId: string) => clusterOf(clusterId)?.collector() ?? null;

  const rangeOf = async (clusterId: string, request: RangeRequest) =>
    clusterOf(clusterId)?.series.range(request) ?? { bucketMs: request.bucketMs, atMs: [], series: [], problems: [] };

  async function* follow(options: {
    readonly clusterId: string;
    readonly afterMs: number;
    readonly signal: AbortSignal;
  }): AsyncIterable<LiveFrame> {
    const { clusterId, afterMs, signal } = options;
    for (let cluster = clusterOf(clusterId); cluster !== null && !signal.aborted; cluster = clusterOf(clusterId)) {
      const collector = cluster.collector();
      if (collector !== null) return yield* collector.follow(signal, afterMs);
      await sleep(lookAgainMs, undefined, { signal }).catch(() => undefined);
    }
  }

  return {
    /** Frames of the last minutes after `afterMs`, then each new one until the signal aborts. */
    follow,
    /** All present data of a cluster for a tab; ids are times of frames, for a tab that reconnects. */
    async *stream(
      { clusterId, topics: { charts, decisions }, lastEventId = "0" }: LiveStreamRequest,
      signal: AbortSignal,
    ): AsyncIterable<{ readonly id: string; readonly event: LiveEvent }> {
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
    /** Engines, GPUs, stages and the gateway with data in a range of time. */
    subjects: async (clusterId: string, fromMs: number, toMs: number): Promise<readonly string[]> =>
      clusterOf(clusterId)?.series.subjects(fromMs, toMs) ?? [],
    /** Series of a range of time, from the studio's own store or from a Prometheus. */
    async range(clusterId: string, { points, series, ...asked }: LiveRangeRequest): Promise<SeriesRange> {
      const { fromMs, toMs } = boundedRange(asked, Date.now());
      return rangeOf(clusterId, { fromMs, toMs, bucketMs: bucketWidth(toMs - fromMs, points), series });
    },
    /** Latency, quality and stages over a range of time; null if the cluster is not observed. */
    measured: (clusterId: string, range: MeasuredRangeRequest): MeasuredRange | null => collectorOf(clusterId)?.over(range) ?? null,
    /** The plans in force over time, oldest first. */
    plans(clusterId: string, fromMs: number, toMs: number): readonly PlanInForce[] {
      const { runningPlanId: planId = null, runningSince: since = null } = store.clusters.get(clusterId) ?? {};
      const running = planId === null || since === null ? null : { planId, sinceMs: Date.parse(since) };
      return plansInForce({ applications: store.applications.list(clusterId), running, fromMs, toMs });
    },
  };
}

/** The fields of an application that show when another plan came into force. */
type Switching = {
  readonly steps: readonly Pick<StoredApplication["steps"][number], "state" | "endedAt" | "action">[];
};

export interface PlansAsked {
  readonly applications: readonly Switching[];
  /** The plan in force on the cluster and its start, as last noted: a gateway may have switched by itself. null: none. */
  readonly running: { readonly planId: string; readonly sinceMs: number } | null;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * The plans in force over time, oldest first; spans that reach into the range are returned whole. A plan is in force from the switch of its
 * policy on, whatever happened in the application's later steps; an application that did not reach the switch does not count. Of a
 * gateway's own switches, a rollback or a promoted canary, only the latest is known.
 */
export function plansInForce({ applications, running, fromMs, toMs }: PlansAsked): readonly PlanInForce[] {
  const switches = applications
    .flatMap(({ steps }) => steps)
    .flatMap(({ action, state, endedAt }) =>
      action.kind === "switch-policy" && state === "done" && endedAt !== null
        ? [{ atMs: Date.parse(endedAt), planId: action.routing.planId }]
        : [],
    )
    .sort((one, other) => one.atMs - other.atMs);
  // An application's own switch is noted as running a moment after its step ended.
  if (running !== null && running.planId !== switches.at(-1)?.planId) switches.push({ atMs: running.sinceMs, planId: running.planId });
  const spans: PlanInForce[] = [];
  for (const { atMs, planId } of switches) {
    const open = spans.at(-1);
    if (open?.toMs === null) {
      if (open.planId === planId) continue;
      spans[spans.length - 1] = { ...open, toMs: atMs };
    }
    if (planId !== null) spans.push({ planId, fromMs: atMs, toMs: null });
  }
  return spans.filter((span) => span.fromMs < toMs && (span.toMs ?? Number.POSITIVE_INFINITY) > fromMs);
}
