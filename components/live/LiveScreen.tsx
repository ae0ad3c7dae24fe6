"use client";

import { useQuery } from "@tanstack/react-query";
import { memo, useCallback, useMemo, useState } from "react";
import { useStore } from "zustand";
import { useNow } from "@/components/ui/useNow";
import type { ClusterSummary, LiveTopics, Proposal } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { useTRPC } from "../api/trpc";
import { isActive } from "../apply/prepareRevisions";
import { useApplications } from "../apply/useApplications";
import type { TimeWindow } from "../charts/chartSpec";
import { useOpenProposal } from "../proposals/useOpenProposal";
import { RoutingPanel } from "../routing/RoutingPanel";
import { useClusters, useCurrentCluster } from "../shell/useCurrentCluster";
import { Panel } from "../ui/Panel";
import { PanelState, type PanelStatus } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { useModelIdentities } from "../ui/useModelIdentities";
import { useUrlView } from "../url/useUrlView";
import { type LiveView, liveCodec } from "./address/liveCodec";
import { type ChosenFilter, scopedFilter } from "./address/prepareFilter";
import { useZoom } from "./address/useZoom";
import { ChartGrid } from "./charts/ChartGrid";
import { fitCharts, statingWindow } from "./charts/liveCharts";
import { choicesOf } from "./charts/prepareSubjects";
import { scopeCharts } from "./charts/scopeCharts";
import { useMeasuredRange } from "./charts/useMeasuredRange";
import { usePlanSpans } from "./charts/usePlanSpans";
import { useSubjects } from "./charts/useSubjects";
import { Decisions } from "./decisions/Decisions";
import { AttentionStrip } from "./engines/AttentionStrip";
import { prepareAttention } from "./engines/prepareAttention";
import { DriftPanel } from "./figures/DriftPanel";
import { GraceNotice } from "./figures/GraceNotice";
import { LostStages } from "./figures/LostStages";
import { Engines, Figures, Gpus, Readings, Stages } from "./figures/Measurements";
import { LiveHeader } from "./LiveHeader";
import { LoadPanel } from "./LoadPanel";
import { ScopeBar } from "./ScopeBar";
import { createLive, type Live } from "./stream/live";
import { useInvalidateOnChange } from "./stream/useInvalidateOnChange";
import { useLiveFrames } from "./stream/useLiveFrames";
import { useLiveStream } from "./stream/useLiveStream";

const MINUTE_MS = 60_000;

/**
 * The time range of the page, for the queries in addition to the charts: where it follows the present, whole minutes from
 * before the span to after now, so that the query changes once a minute. null until the clock is known.
 */
function useTimeWindow(spanMs: number, zoom: TimeWindow | null): TimeWindow | null {
  const nowMs = useNow(MINUTE_MS / 4);
  const minute = nowMs === null ? null : Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  return useMemo(
    () => zoom ?? (minute === null ? null : { fromMs: Math.max(0, minute - spanMs), toMs: minute + 2 * MINUTE_MS }),
    [zoom, minute, spanMs],
  );
}

/** Buckets of a chart: about one per pixel of a third of a wide window. */
const POINTS = 300;

const NO_MODELS: readonly string[] = [];

function usePlanOf(planId: string | null): Plan | null {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.plans.get.queryOptions({ planId: planId ?? "" }, { enabled: planId !== null, staleTime: Number.POSITIVE_INFINITY }),
  );
  return planId === null ? null : (data?.plan ?? null);
}

/** Controls act on the present, also while the figures are paused. */
const Routing = memo(function Routing({
  live,
  plan,
  applying,
}: {
  readonly live: Live;
  readonly plan: Plan | null;
  readonly applying: boolean;
}) {
  const frame = useLiveFrames(live, (state) => state.frames.at(-1));
  return frame === undefined ? null : <RoutingPanel frame={frame} plan={plan} applying={applying} />;
});

const Attention = memo(function Attention({ live, proposal }: { readonly live: Live; readonly proposal: Proposal | null }) {
  const frames = useLiveFrames(live, (state) => state.shown);
  return frames.length === 0 ? null : <AttentionStrip problems={prepareAttention(frames)} proposal={proposal} />;
});

function LiveDesk({ cluster }: { readonly cluster: ClusterSummary }) {
  const clusterId = cluster.spec.id;
  const [view, write] = useUrlView(liveCodec);
  const { scope, span, zoom, filter } = view;
  const [live] = useState(createLive);
  const plan = usePlanOf(cluster.runningPlanId);
  const window = useTimeWindow(Number(span) * 1000, zoom);
  const range = useMeasuredRange(live, clusterId, Number(span) * 1000, zoom);
  const subjects = useSubjects({ live, clusterId, plan, window });
  const identities = useModelIdentities(subjects?.models ?? []);
  const choices = subjects === null ? [] : choicesOf(subjects, scope);
  const of = scope === "cluster" ? null : (view.of ?? choices[0] ?? null);
  const { carried, left, series } = useMemo(
    () => fitCharts(subjects === null ? [] : scopeCharts(subjects, scope, of, identities)),
    [subjects, scope, of, identities],
  );
  const followed = useMemo(() => ({ spanMs: Number(span) * 1000, points: POINTS, series }), [span, series]);
  const recentSeconds = useStore(live.store, ({ shown }) => Math.round(shown.at(-1)?.recent.windowSeconds ?? 0));
  const charts = useMemo(() => carried.map((chart) => statingWindow(chart, recentSeconds)), [carried, recentSeconds]);
  const wanted = useMemo(() => scopedFilter(filter, scope, of), [filter, scope, of]);
  const reached = useMemo(() => ((scope === "model" || scope === "engine") && of !== null ? { scope, of } : null), [scope, of]);
  const topics = useMemo(
    (): LiveTopics => ({ charts: zoom === null && series.length > 0 ? followed : null, decisions: wanted }),
    [followed, zoom, series, wanted],
  );
  useLiveStream(live, clusterId, topics);
  useInvalidateOnChange(live);
  const onView = useCallback((change: Partial<LiveView>) => write(change, "push"), [write]);
  const onFilter = useCallback((chosen: ChosenFilter, how: "push" | "replace") => write({ filter: chosen }, how), [write]);
  const onZoomed = useCallback((to: TimeWindow | null, how: "push" | "replace") => write({ zoom: to }, how), [write]);
  const { zoomTo, back } = useZoom(zoom, onZoomed);
  const spans = usePlanSpans(clusterId, window);
  const measured = useStore(live.store, (state) => state.shown.length > 0);
  const lost = useStore(live.stream, (state) => state.connection.state === "lost");
  const proposal = useOpenProposal(clusterId);
  const applying = useApplications(clusterId).data?.some(isActive) ?? false;
  const status: PanelStatus =
    measured && subjects !== null
      ? { kind: "ready" }
      : cluster.health.state === "not-connected"
        ? { kind: "empty", title: "Nothing runs here", text: "This cluster is described for planning only: there is nothing to measure." }
        : { kind: "loading", what: "Waiting for the first sample" };
  return (
    <>
      <LiveHeader live={live} />
      <ScopeBar view={view} of={of} choices={choices} onView={onView} onBack={back} />
      <Attention live={live} proposal={proposal} />
      {scope === "cluster" && <LostStages live={live} plan={plan} />}
      {scope === "cluster" && <GraceNotice live={live} plan={plan} />}
      {scope === "cluster" && (
        <>
          <div className={lost ? "opacity-60" : ""}>
            <Figures live={live} plan={plan} range={range} follows={zoom === null} />
          </div>
          <Panel title="Load">
            <LoadPanel clusterId={clusterId} plan={plan} />
          </Panel>
        </>
      )}
      <PanelState status={status}>
        {() => (
          <>
            {scope !== "cluster" && of === null ? (
              <p className="text-sm text-ink-3">None of these runs now. Applying a plan starts engines.</p>
            ) : (
              <ChartGrid
                live={live}
                clusterId={clusterId}
                scope={scope}
                of={of}
                charts={charts}
                left={left}
                followed={followed}
                zoom={zoom}
                spans={spans}
                pale={lost}
                onZoom={zoomTo}
              />
            )}
            {scope === "cluster" && <Stages live={live} plan={plan} range={range} follows={zoom === null} identities={identities} />}
            {scope === "engine" && of !== null && <Readings live={live} id={of} />}
            {(scope === "cluster" || scope === "model") && (
              <Engines live={live} identities={identities} model={scope === "model" ? of : null} />
            )}
            {(scope === "cluster" || scope === "gpu") && <Gpus live={live} identities={identities} />}
          </>
        )}
      </PanelState>
      {scope === "cluster" && (
        <>
          <DriftPanel clusterId={clusterId} />
          <Routing live={live} plan={plan} applying={applying} />
        </>
      )}
      <Panel title="Decisions">
        <Decisions
          clusterId={clusterId}
          live={live}
          models={subjects?.models ?? NO_MODELS}
          filter={filter}
          wanted={wanted}
          onFilter={onFilter}
          reached={reached}
        />
      </Panel>
    </>
  );
}

/** Live: what the cluster does now, compared with the predictions of the plan in force. */
export function LiveScreen() {
  const clusters = useClusters();
  const cluster = useCurrentCluster();
  return (
    <div className="flex flex-col gap-4">
      <PanelState status={queryStatus(clusters, { what: "Reading clusters" })}>
        {() => cluster !== null && <LiveDesk key={cluster.spec.id} cluster={cluster} />}
      </PanelState>
    </div>
  );
}
