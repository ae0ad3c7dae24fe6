"use client";

import Link from "next/link";
import { useClusters, useCurrentCluster } from "../shell/useCurrentCluster";
import { PageHeader } from "../ui/PageHeader";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { useUrlView } from "../url/useUrlView";
import { BatchesTab } from "./BatchesTab";
import { EnsembleTabs } from "./EnsembleTabs";
import { type EnsembleTab, ensemblesCodec } from "./ensemblesCodec";
import { GateTab } from "./GateTab";
import { OnlineTab } from "./OnlineTab";
import { PlaceTab } from "./PlaceTab";

const says: Readonly<Record<EnsembleTab, string>> = {
  place: "Which expert answers how many questions on which worker, so that the last is done soonest.",
  gate: "Where experts agree, nobody needs to be asked to make one answer of theirs.",
  online: "What a gateway answers by several experts, and when it asks the aggregator.",
  batches: "Thousands of questions through several experts on a few GPUs.",
};

const tabs = { place: PlaceTab, gate: GateTab, online: OnlineTab, batches: BatchesTab } as const;

/** Ensembles: where their experts go, when their aggregator is asked, what a gateway serves of them and what is worked off in batches. */
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
      text: "Ensembles are placed on the GPUs of a cluster. Describe one or attach one.",
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
