"use client";

import { useQuery } from "@tanstack/react-query";
import { memo } from "react";
import { useStore } from "zustand";
import type { ClusterSummary, Proposal } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { useTRPC } from "../api/trpc";
import { isActive } from "../apply/prepareRevisions";
import { useApplications } from "../apply/useApplications";
import { TrafficPanel } from "../proposals/TrafficPanel";
import { useOpenProposal } from "../proposals/useOpenProposal";
import { RoutingPanel } from "../routing/RoutingPanel";
import { useClusters, useCurrentCluster } from "../shell/useCurrentCluster";
import { Panel } from "../ui/Panel";
import { PanelState, type PanelStatus } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { useUrlView } from "../url/useUrlView";
import { AttentionStrip } from "./AttentionStrip";
import { DecisionTail } from "./DecisionTail";
import { LiveHeader } from "./LiveHeader";
import { LoadPanel } from "./LoadPanel";
import { liveCodec } from "./liveCodec";
import { Measurements } from "./Measurements";
import { prepareAttention } from "./prepareAttention";
import { useDrawn } from "./useDrawn";
import { type Live, useLiveFrames } from "./useLiveFrames";

function usePlanOf(planId: string | null): Plan | null {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.plans.get.queryOptions({ planId: planId ?? "" }, { enabled: planId !== null, staleTime: Number.POSITIVE_INFINITY }),
  );
  return planId === null ? null : (data?.plan ?? null);
}

/** What is steered is the present, also while the figures are held. */
const Routing = memo(function Routing({
  live,
  plan,
  applying,
}: {
  readonly live: Live;
  readonly plan: Plan | null;
  readonly applying: boolean;
}) {
  const frame = useDrawn(live, (state) => state.frames.at(-1));
  return frame === undefined ? null : <RoutingPanel frame={frame} plan={plan} applying={applying} />;
});

const Attention = memo(function Attention({ live, proposal }: { readonly live: Live; readonly proposal: Proposal | null }) {
  const frames = useDrawn(live, (state) => state.shown);
  return frames.length === 0 ? null : <AttentionStrip problems={prepareAttention(frames)} proposal={proposal} />;
});

function LiveDesk({ cluster }: { readonly cluster: ClusterSummary }) {
  const clusterId = cluster.spec.id;
  const [view, write] = useUrlView(liveCodec);
  const { live, connection } = useLiveFrames(clusterId);
  const paused = useStore(live.store, (state) => state.paused);
  const measured = useStore(live.store, (state) => state.shown.length > 0);
  const plan = usePlanOf(cluster.runningPlanId);
  const proposal = useOpenProposal(clusterId);
  const applying = useApplications(clusterId).data?.some(isActive) ?? false;
  const status: PanelStatus = measured
    ? { kind: "ready" }
    : cluster.health.word === "not connected"
      ? { kind: "empty", title: "Nothing runs here", text: "This cluster is described for planning only: there is nothing to measure." }
      : { kind: "loading", what: "Waiting for the first sample" };
  return (
    <>
      <LiveHeader store={live.store} connection={connection} range={view.range} onRange={(range) => write({ range }, "push")} />
      <Attention live={live} proposal={proposal} />
      <Panel title="Load">
        <LoadPanel clusterId={clusterId} plan={plan} />
      </Panel>
      <Routing live={live} plan={plan} applying={applying} />
      <PanelState status={status}>{() => <Measurements live={live} plan={plan} rangeSeconds={Number(view.range)} />}</PanelState>
      <TrafficPanel clusterId={clusterId} />
      <Panel title="Decisions">
        <DecisionTail clusterId={clusterId} paused={paused} turns={live.turns} />
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
