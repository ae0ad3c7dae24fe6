"use client";

import type { ClusterSummary } from "@/server/contracts/studio";
import { RealModelsPanel } from "../realSetup/RealModelsPanel";
import { useClusters } from "../shell/useCurrentCluster";
import { Button } from "../ui/Button";
import { PageHeader } from "../ui/PageHeader";
import { PanelState } from "../ui/PanelState";
import { PermittedButton } from "../ui/PermittedButton";
import { queryStatus } from "../ui/queryStatus";
import { useUrlView } from "../url/useUrlView";
import { AttachScreen } from "./AttachScreen";
import { ClusterCard } from "./ClusterCard";
import { ClusterDetails } from "./ClusterDetails";
import { clustersCodec } from "./clustersCodec";
import { DescribeCluster } from "./DescribeCluster";

/** Clusters: the attached and the described ones, the details of one, and how to attach another. */
export function ClustersScreen() {
  const query = useClusters();
  const [view, write] = useUrlView(clustersCodec);
  const toAll = (): void => write({ show: null, attach: null }, "push");
  const isPart = view.attach !== null || view.show !== null;
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title={view.attach === null ? "Clusters" : "Attach a cluster"}>
        <div className="ml-auto flex flex-wrap gap-2">
          {isPart && <Button onClick={toAll}>All clusters</Button>}
          {view.attach === null && (
            <>
              <Button onClick={() => write({ describe: true }, "push")}>Describe a cluster</Button>
              <PermittedButton permission="attach" look="primary" onClick={() => write({ attach: "endpoints", show: null }, "push")}>
                Attach engines
              </PermittedButton>
            </>
          )}
        </div>
      </PageHeader>
      {view.attach !== null ? (
        <AttachScreen
          kind={view.attach}
          onKind={(attach) => write({ attach }, "push")}
          onDescribe={() => write({ describe: true }, "push")}
        />
      ) : (
        <PanelState status={queryStatus(query, { what: "Reading clusters" })}>
          {() => <Shown clusters={query.data ?? []} show={view.show} onShow={(show) => write({ show }, "push")} onAll={toAll} />}
        </PanelState>
      )}
      {view.describe && <DescribeCluster open onOpenChange={(describe) => write({ describe }, "replace")} />}
    </div>
  );
}

function Shown(props: {
  readonly clusters: readonly ClusterSummary[];
  readonly show: string | null;
  readonly onShow: (id: string) => void;
  readonly onAll: () => void;
}) {
  const { clusters, show } = props;
  const shown = clusters.find(({ spec }) => spec.id === show);
  if (shown !== undefined) return <ClusterDetails key={shown.spec.id} cluster={shown} onDetached={props.onAll} />;
  return (
    <>
      {show !== null && (
        <p role="status" className="text-sm text-warn [overflow-wrap:anywhere]">
          There is no cluster {show}: these are all.
        </p>
      )}
      <div className="grid items-start gap-4 [grid-template-columns:repeat(auto-fill,minmax(min(420px,100%),1fr))]">
        {clusters.map((cluster) => (
          <ClusterCard key={cluster.spec.id} cluster={cluster} onShow={() => props.onShow(cluster.spec.id)} />
        ))}
      </div>
      <RealModelsPanel />
    </>
  );
}
