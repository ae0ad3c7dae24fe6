"use client";

import Link from "next/link";
import type { ClusterSummary } from "@/server/contracts/studio";
import { gpuCount, gpuPrices, gpuTypes } from "@/solver/plan/clusterGpus";
import { healthTones } from "../shell/healthTones";
import { useClusters } from "../shell/useCurrentCluster";
import { Badge, StateWord } from "../ui/Badge";
import { Button, buttonClass } from "../ui/Button";
import { formatCounted, formatUsd, shortHash } from "../ui/format";
import { PageHeader } from "../ui/PageHeader";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { flagCodec } from "../url/flagCodec";
import { useUrlView } from "../url/useUrlView";
import { DescribeCluster } from "./DescribeCluster";
import { nodesText } from "./nodesText";

const describeCodec = flagCodec("describe");

function ClusterCard({ cluster }: { readonly cluster: ClusterSummary }) {
  const { spec } = cluster;
  const prices = gpuPrices(spec);
  const query = `?cluster=${encodeURIComponent(spec.id)}` as const;
  return (
    <article className="flex flex-col gap-3 rounded-lg border bg-panel p-4">
      <header className="flex flex-wrap items-center gap-2">
        <h2 className="text-base font-semibold">{spec.name}</h2>
        <StateWord tone={healthTones[cluster.health.word]}>{cluster.health.word}</StateWord>
        {cluster.emulated && <Badge tone="hatched">emulated</Badge>}
      </header>
      <p className="text-sm text-ink-2">{cluster.health.reason}</p>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
        <dt className="text-ink-3">GPUs</dt>
        <dd>
          {gpuTypes(spec)
            .map((type) => `${gpuCount(spec, type)} × ${type}`)
            .join(" and ")}{" "}
          on {formatCounted(spec.nodes.length, "node")} ({nodesText(spec)})
        </dd>
        <dt className="text-ink-3">Price</dt>
        <dd>
          {gpuTypes(spec)
            .map((type, _, types) => `${formatUsd(prices[type])} per ${types.length === 1 ? "GPU" : type} and hour`)
            .join(", ")}
        </dd>
        <dt className="text-ink-3">Runs</dt>
        <dd>
          {cluster.runningPlanId === null ? (
            "no plan"
          ) : (
            <Link href={`/apply/${cluster.runningPlanId}${query}`} className="font-mono text-accent underline-offset-2 hover:underline">
              {shortHash(cluster.runningPlanId)}
            </Link>
          )}
        </dd>
        {cluster.emulated && (
          <>
            <dt className="text-ink-3">Clock</dt>
            <dd>{cluster.timeScale === 1 ? "real time" : `${cluster.timeScale} engine seconds in one second`}</dd>
          </>
        )}
      </dl>
      <footer className="mt-auto flex gap-2">
        <Link href={`/plan${query}`} className={buttonClass("plain")}>
          Plan for it
        </Link>
        {cluster.health.word !== "not connected" && (
          <Link href={`/live${query}`} className={buttonClass("plain")}>
            Watch it
          </Link>
        )}
      </footer>
    </article>
  );
}

/** Clusters: what there is to plan for and to run on. */
export function ClustersScreen() {
  const query = useClusters();
  const [{ open }, write] = useUrlView(describeCodec);
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title="Clusters">
        <Button look="primary" className="ml-auto" onClick={() => write({ open: true }, "push")}>
          Describe a cluster
        </Button>
      </PageHeader>
      <PanelState status={queryStatus(query, { what: "Reading clusters" })}>
        {() => (
          <div className="grid gap-4 [grid-template-columns:repeat(auto-fill,minmax(min(420px,100%),1fr))]">
            {(query.data ?? []).map((cluster) => (
              <ClusterCard key={cluster.spec.id} cluster={cluster} />
            ))}
          </div>
        )}
      </PanelState>
      {open && <DescribeCluster open onOpenChange={(next) => write({ open: next }, "replace")} />}
    </div>
  );
}
