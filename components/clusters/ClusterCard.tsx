"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import type { ClusterSummary } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import { healthTones, healthWord } from "../shell/healthTones";
import { Badge, StateWord } from "../ui/Badge";
import { Button, buttonClass } from "../ui/Button";
import { formatCounted, shortHash } from "../ui/format";
import { AttentionList } from "./AttentionList";
import { ConnectionTest } from "./ConnectionTest";
import { GatewayAddress } from "./GatewayAddress";
import { nodesText } from "./nodesText";
import { prepareCard } from "./prepareCard";

/** More nodes are shown as a list on demand. */
const MOST_REASONS = 3;
const REFRESH_MS = 5_000;

/** A summary of a cluster: its health and what to do about it, its hardware, and links. */
export function ClusterCard({ cluster, onShow }: { readonly cluster: ClusterSummary; readonly onShow: () => void }) {
  const { spec, attention } = cluster;
  const connected = cluster.health.state !== "not-connected";
  const detail = useQuery(
    useTRPC().clusters.detail.queryOptions({ clusterId: spec.id }, { enabled: connected, refetchInterval: REFRESH_MS }),
  ).data;
  const card = prepareCard(cluster, detail);
  const query = `?cluster=${encodeURIComponent(spec.id)}` as const;
  const links = (
    <>
      <Link href={`/plan${query}`} className={buttonClass("plain")}>
        Plan for it
      </Link>
      {connected && (
        <>
          <Link href={`/live${query}`} className={buttonClass("plain")}>
            Watch it
          </Link>
          <Button aria-label={`Details of ${spec.name}`} onClick={onShow}>
            Details
          </Button>
        </>
      )}
    </>
  );
  return (
    <article aria-label={spec.name} className="flex min-w-0 flex-col gap-3 rounded-lg border bg-panel p-4">
      <header className="flex flex-wrap items-center gap-2">
        <h2 className="min-w-0 text-base font-semibold [overflow-wrap:anywhere]">{spec.name}</h2>
        <StateWord tone={healthTones[cluster.health.state]}>{healthWord(cluster.health.state)}</StateWord>
        <Badge>{card.kind}</Badge>
        {cluster.emulated && <Badge tone="hatched">emulated</Badge>}
        {spec.kind === "processes" && <Badge>real engines, this computer</Badge>}
      </header>
      <p className="text-sm text-ink-2 [overflow-wrap:anywhere]">{cluster.health.reason}</p>
      {attention.length > 0 && (
        <div className="flex flex-col gap-1.5 rounded-md border p-2">
          <AttentionList attention={attention.slice(0, MOST_REASONS)} label={`What ${spec.name} needs attention for`} />
          {attention.length > MOST_REASONS && (
            <button type="button" className="self-start text-xs text-accent underline underline-offset-2" onClick={onShow}>
              {formatCounted(attention.length - MOST_REASONS, "more reason")}
            </button>
          )}
        </div>
      )}
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
        <dt className="text-ink-3">GPUs</dt>
        <dd>
          {card.gpus.join("; ")} <span className="text-ink-3">({nodesText(spec)})</span>
        </dd>
        {connected && (
          <>
            <dt className="text-ink-3">Engines</dt>
            <dd>{card.engines === null ? "not seen yet" : card.engines.length === 0 ? "none" : card.engines.join(", ")}</dd>
          </>
        )}
        {card.baseUrl !== null && card.curl !== null && (
          <>
            <dt className="text-ink-3">Gateway</dt>
            <dd className="min-w-0">
              <GatewayAddress baseUrl={card.baseUrl} curl={card.curl} />
            </dd>
          </>
        )}
        <dt className="text-ink-3">Price</dt>
        <dd>{card.price}</dd>
        <dt className="text-ink-3">Runs</dt>
        <dd>
          {cluster.runningPlanId === null ? (
            "no plan"
          ) : (
            <Link href={`/apply/${cluster.runningPlanId}${query}`} className="font-mono text-accent underline-offset-2 hover:underline">
              {shortHash(cluster.runningPlanId)}
            </Link>
          )}
          {cluster.topology === "given" && <span className="text-ink-3"> · plans change routing only</span>}
        </dd>
        {cluster.emulated && (
          <>
            <dt className="text-ink-3">Clock</dt>
            <dd>{cluster.timeScale === 1 ? "real time" : `${cluster.timeScale} engine seconds in one second`}</dd>
          </>
        )}
      </dl>
      <footer className="mt-auto">
        {connected ? (
          <ConnectionTest clusterId={spec.id} name={spec.name}>
            {links}
          </ConnectionTest>
        ) : (
          <div className="flex flex-wrap gap-2">{links}</div>
        )}
      </footer>
    </article>
  );
}
