"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import type { ClusterDetail, ClusterSummary } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import { healthTones, healthWord } from "../shell/healthTones";
import { Badge, StateWord } from "../ui/Badge";
import { buttonClass } from "../ui/Button";
import { formatCounted } from "../ui/format";
import { Notes } from "../ui/Notes";
import { Panel } from "../ui/Panel";
import { PanelState, type PanelStatus } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { Table } from "../ui/Table";
import { useNow } from "../ui/useNow";
import { AttentionList } from "./AttentionList";
import { ClusterEngines } from "./ClusterEngines";
import { ConnectionPanel } from "./ConnectionPanel";
import { ConnectionTest } from "./ConnectionTest";
import { DetachCluster } from "./DetachCluster";
import { DriftTable } from "./DriftTable";
import { GatewayAddress } from "./GatewayAddress";
import { JudgePanel } from "./JudgePanel";
import { freeGpus, prepareCard, sightNote } from "./prepareCard";

const REFRESH_MS = 2_000;
const nodeColumns = [
  { key: "name", name: "Node" },
  { key: "gpu", name: "GPU type" },
  { key: "gpus", name: "GPUs", numeric: true },
  { key: "used", name: "Used", numeric: true },
  { key: "others", name: "Used by others", numeric: true },
  { key: "free", name: "Free", numeric: true },
  { key: "closed", name: "Accepts engines" },
];

/** All details of one cluster. */
export function ClusterDetails({ cluster, onDetached }: { readonly cluster: ClusterSummary; readonly onDetached: () => void }) {
  const { spec } = cluster;
  const query = useQuery(useTRPC().clusters.detail.queryOptions({ clusterId: spec.id }, { refetchInterval: REFRESH_MS }));
  const nowMs = useNow(1_000);
  const detail = query.data;
  const note = detail == null ? null : sightNote(detail, nowMs);
  const asked = queryStatus(query, {
    what: "Reading the cluster",
    empty: detail === null && {
      kind: "empty",
      title: "Not connected",
      text: "Plans can be made for it and exported. Attach its engines to apply plans and to measure them.",
    },
  });
  const status: PanelStatus = asked.kind === "ready" && note !== null ? { kind: "stale", note } : asked;
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="min-w-0 text-base font-semibold [overflow-wrap:anywhere]">{spec.name}</h2>
        <StateWord tone={healthTones[cluster.health.state]}>{healthWord(cluster.health.state)}</StateWord>
        {cluster.emulated && <Badge tone="hatched">emulated</Badge>}
        {spec.kind === "processes" && <Badge>real engines, this computer</Badge>}
        <span className="min-w-0 text-sm text-ink-2 [overflow-wrap:anywhere]">{cluster.health.reason}</span>
      </div>
      <PanelState status={status}>{() => detail != null && <Known cluster={cluster} detail={detail} onDetached={onDetached} />}</PanelState>
    </div>
  );
}

function Known(props: { readonly cluster: ClusterSummary; readonly detail: ClusterDetail; readonly onDetached: () => void }) {
  const { cluster, detail } = props;
  const { spec } = cluster;
  const card = prepareCard(cluster, detail);
  const query = `?cluster=${encodeURIComponent(spec.id)}` as const;
  return (
    <>
      <ConnectionTest clusterId={spec.id} name={spec.name}>
        <Link href={`/plan${query}`} className={buttonClass("plain")}>
          Plan for it
        </Link>
        <Link href={`/live${query}`} className={buttonClass("plain")}>
          Watch it
        </Link>
        {detail.connectionText !== null && <DetachCluster detail={detail} name={spec.name} onDone={props.onDetached} />}
      </ConnectionTest>
      {detail.attention.length > 0 && (
        <Panel title="Needs attention">
          <AttentionList attention={detail.attention} label={`What ${spec.name} needs attention for`} />
        </Panel>
      )}
      <Panel title="Engines" aside={formatCounted(detail.engines.length, "engine")}>
        {detail.engines.length === 0 ? (
          <p className="text-sm text-ink-3">
            {detail.topology === "given" ? "No engine was found." : "No engine is running: applying a plan starts engines."}
          </p>
        ) : (
          <ClusterEngines clusterId={spec.id} engines={detail.engines} />
        )}
        {detail.topology === "given" && (
          <p className="mt-3 text-sm text-ink-2">
            These engines are managed outside Weir: plans change the routing and start or stop none.
          </p>
        )}
      </Panel>
      <JudgePanel clusterId={spec.id} />
      <Panel title="Drift">
        {detail.drift === null ? (
          <p className="text-sm text-ink-3">No plan is in force here, or it has not been compared yet.</p>
        ) : (
          <DriftTable clusterId={spec.id} drift={detail.drift} engines={detail.engines} />
        )}
      </Panel>
      <Panel title="Nodes" aside={card.gpus.join("; ")}>
        <Table caption="Nodes" columns={detail.topology === "planned" ? nodeColumns : nodeColumns.slice(0, -1)}>
          {detail.nodes.map((node) => (
            <tr key={node.name}>
              <td className="min-w-32 [overflow-wrap:anywhere]">{node.name}</td>
              <td className="whitespace-nowrap">{node.gpu}</td>
              <td className="text-right">{node.gpus}</td>
              <td className="text-right">{node.used}</td>
              <td className="text-right">{node.othersUse}</td>
              <td className="text-right">{freeGpus(node)}</td>
              {detail.topology === "planned" && <td>{node.closed === null ? "yes" : `no: it ${node.closed}`}</td>}
            </tr>
          ))}
        </Table>
        {detail.notes.length > 0 && (
          <div className="mt-3 flex flex-col gap-1 text-sm text-ink-2">
            <p className="font-medium text-ink">Not managed by Weir, and left as it is</p>
            <Notes items={detail.notes} className="[overflow-wrap:anywhere]" />
          </div>
        )}
      </Panel>
      <Panel title="Gateway" aside={detail.gateway.runBy === "studio" ? "run by the studio" : "run by you"}>
        <div className="flex flex-col gap-2 text-sm">
          {card.baseUrl !== null && card.curl !== null && <GatewayAddress baseUrl={card.baseUrl} curl={card.curl} />}
          <p className="text-ink-2 [overflow-wrap:anywhere]">Admin address {detail.gateway.adminUrl}.</p>
        </div>
      </Panel>
      {detail.connectionText === null ? (
        <p className="text-sm text-ink-3">This cluster is part of the studio and cannot be detached.</p>
      ) : (
        <ConnectionPanel key={detail.connectionText} clusterId={spec.id} text={detail.connectionText} />
      )}
    </>
  );
}
