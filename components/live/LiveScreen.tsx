"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useStore } from "zustand";
import type { ClusterSummary, LiveFrame } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { useTRPC } from "../api/trpc";
import { TrafficPanel } from "../proposals/TrafficPanel";
import { useOpenProposal } from "../proposals/useOpenProposal";
import { RoutingPanel } from "../routing/RoutingPanel";
import { useClusters, useCurrentCluster } from "../shell/useCurrentCluster";
import { formatCount, formatRate, formatSeconds } from "../ui/format";
import { Panel } from "../ui/Panel";
import { PanelState, type PanelStatus } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { useModelIdentities } from "../ui/useModelIdentities";
import { useUrlView } from "../url/useUrlView";
import { AttentionStrip } from "./AttentionStrip";
import { DecisionTail } from "./DecisionTail";
import { EngineTable } from "./EngineTable";
import { GpuHeat } from "./GpuHeat";
import { LiveChart } from "./LiveChart";
import { LiveFigures } from "./LiveFigures";
import { LiveHeader } from "./LiveHeader";
import { LoadPanel } from "./LoadPanel";
import { liveCodec } from "./liveCodec";
import { prepareAttention } from "./prepareAttention";
import { engineRows } from "./prepareEngines";
import { heatNodes, latencySeries, queueSeries, rateSeries, servedModels, stageRows } from "./prepareLive";
import { SettlingWord } from "./SettlingWord";
import { StagePanel } from "./StagePanel";
import { settling } from "./settling";
import { useLiveFrames } from "./useLiveFrames";
import { usePredictedBands } from "./usePredictedBands";

function usePlanOf(planId: string | null): Plan | null {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.plans.get.queryOptions({ planId: planId ?? "" }, { enabled: planId !== null, staleTime: Number.POSITIVE_INFINITY }),
  );
  return planId === null ? null : (data?.plan ?? null);
}

/** Everything drawn from frames. */
function Measurements(props: {
  readonly frames: readonly LiveFrame[];
  readonly frame: LiveFrame;
  readonly plan: Plan | null;
  readonly rangeSeconds: number;
}) {
  const { frames, frame, plan, rangeSeconds } = props;
  const names = servedModels(frames, plan);
  const identities = useModelIdentities(names);
  const models = useMemo(() => [...identities.keys()], [identities]);
  const queues = useMemo(() => queueSeries(models, identities), [models, identities]);
  const unsettled = settling(frame, plan);
  const bands = usePredictedBands(frames, rangeSeconds);
  return (
    <>
      <Panel title="Measured beside predicted">
        <LiveFigures frame={frame} plan={plan} />
      </Panel>
      <Panel title="Stages" {...(unsettled === null ? {} : { aside: <SettlingWord settling={unsettled} /> })}>
        <StagePanel rows={stageRows(frame, plan, identities)} pale={unsettled !== null} />
      </Panel>
      <div className="grid gap-4 lg:grid-cols-3">
        <LiveChart title="Requests" frames={frames} series={rateSeries} rangeSeconds={rangeSeconds} format={formatRate} unit="/s" />
        <LiveChart title="Running and waiting" frames={frames} series={queues} rangeSeconds={rangeSeconds} format={formatCount} unit="" />
        <LiveChart
          title="Latency end to end"
          frames={frames}
          series={latencySeries}
          rangeSeconds={rangeSeconds}
          format={formatSeconds}
          unit=" s"
          bands={bands}
        />
      </div>
      <div className="grid items-start gap-4 xl:grid-cols-[3fr_2fr]">
        <Panel title="Engines">
          <EngineTable rows={engineRows(frames, identities)} />
        </Panel>
        <Panel title="GPUs" aside={<span>busy share, as GPUs report it; bar: memory in use</span>}>
          <GpuHeat nodes={heatNodes(frame)} identities={identities} />
        </Panel>
      </div>
    </>
  );
}

function LiveDesk({ cluster }: { readonly cluster: ClusterSummary }) {
  const clusterId = cluster.spec.id;
  const [view, write] = useUrlView(liveCodec);
  const { store, connection } = useLiveFrames(clusterId);
  const frames = useStore(store, (state) => state.shown);
  const paused = useStore(store, (state) => state.paused);
  const plan = usePlanOf(cluster.runningPlanId);
  const proposal = useOpenProposal(clusterId);
  // What is steered is the present, also while the figures are held.
  const newest = useStore(store, (state) => state.frames.at(-1));
  const frame = frames.at(-1);
  const status: PanelStatus =
    frame !== undefined
      ? { kind: "ready" }
      : cluster.health.word === "not connected"
        ? { kind: "empty", title: "Nothing runs here", text: "This cluster is described for planning only: there is nothing to measure." }
        : { kind: "loading", what: "Waiting for the first sample" };
  return (
    <>
      <LiveHeader store={store} connection={connection} range={view.range} onRange={(range) => write({ range }, "push")} />
      {frame !== undefined && <AttentionStrip problems={prepareAttention(frame)} proposal={proposal} />}
      <Panel title="Load">
        <LoadPanel clusterId={clusterId} plan={plan} />
      </Panel>
      {newest !== undefined && <RoutingPanel frame={newest} plan={plan} />}
      <PanelState status={status}>
        {() => frame !== undefined && <Measurements frames={frames} frame={frame} plan={plan} rangeSeconds={Number(view.range)} />}
      </PanelState>
      <TrafficPanel clusterId={clusterId} />
      <Panel title="Decisions">
        <DecisionTail clusterId={clusterId} paused={paused} />
      </Panel>
    </>
  );
}

/** Live: what the cluster does now, beside what the plan in force promised. */
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
