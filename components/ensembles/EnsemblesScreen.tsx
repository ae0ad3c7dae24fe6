"use client";

import Link from "next/link";
import { useClusters, useCurrentCluster } from "../shell/useCurrentCluster";
import { PageHeader } from "../ui/PageHeader";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { Tabs } from "../ui/Tabs";
import { useUrlView } from "../url/useUrlView";
import { type EnsembleTab, ensemblesCodec, ensembleTabs } from "./address/ensemblesCodec";
import { BatchesTab } from "./batches/BatchesTab";
import { GateTab } from "./gate/GateTab";
import { OnlineTab } from "./online/OnlineTab";
import { PlaceTab } from "./place/PlaceTab";

const names: Readonly<Record<EnsembleTab, string>> = { place: "Place", gate: "Gate", online: "Online", batches: "Batches" };

/** The tabs of an ensemble: placement, gate, serving, batches. */
function EnsembleTabs({ tab, onTab }: { readonly tab: EnsembleTab; readonly onTab: (tab: EnsembleTab) => void }) {
  return <Tabs label="Ensembles" names={names} tabs={ensembleTabs} tab={tab} onTab={onTab} />;
}

const says: Readonly<Record<EnsembleTab, string>> = {
  place: "Which expert answers how many questions on which worker, for the earliest end.",
  gate: "Where experts agree, the aggregator can be skipped.",
  online: "Requests that a gateway answers with several experts, and when it calls the aggregator.",
  batches: "Thousands of questions through several experts on a few GPUs.",
};

const tabs = { place: PlaceTab, gate: GateTab, online: OnlineTab, batches: BatchesTab } as const;

/** Ensembles: where their experts are placed, when their aggregator is asked, what a gateway serves and which batches run. */
export function EnsemblesScreen() {
  const clusters = useClusters();
  const cluster = useCurrentCluster();
  const [{ tab }, write] = useUrlView(ensemblesCodec);
  const Tab = tabs[tab];
  const status = queryStatus(clusters, {
    what: "Reading clusters",
    empty: clusters.data?.length === 0 && {
      kind: "empty",
      title: "There is no cluster",
      text: "Ensembles are placed on the GPUs of a cluster. Describe a cluster or attach one.",
      action: (
        <Link href="/clusters" className="text-sm font-medium text-accent underline underline-offset-2">
          Go to Clusters
        </Link>
      ),
    },
  });
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title="Ensembles">
        <p className="text-sm text-ink-3">{says[tab]}</p>
      </PageHeader>
      <EnsembleTabs tab={tab} onTab={(next) => write({ tab: next, open: null }, "push")} />
      <PanelState status={status}>{() => cluster !== null && <Tab key={cluster.spec.id} cluster={cluster} />}</PanelState>
    </div>
  );
}
