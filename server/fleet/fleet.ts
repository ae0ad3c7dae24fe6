import type { AdminClient } from "@/server/clusters/connector/adminClient";
import type { Answer, Connector, Observation } from "@/server/clusters/connector/connector";
import type { EngineHost } from "@/server/clusters/connector/engineHost";
import type { GatewayAudit } from "@/server/clusters/connector/gatewayAudit";
import type { ClusterSummary } from "@/server/contracts/studio";
import type { SeriesSource } from "@/server/series/seriesSource";
import type { Collector } from "@/server/telemetry/collector";
import type { Target } from "@/server/telemetry/engineTarget";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";

/** The one that is emulated beside the studio. */
export const embeddedClusterId = "embedded";

/** A cluster that the studio looks after: seen once a second, measured, and behind a gateway. */
export interface ConnectedCluster {
  readonly id: string;
  readonly kind: Exclude<ClusterSpec["kind"], "described">;
  readonly host: EngineHost;
  readonly connector: Connector;
  readonly gateway: AdminClient;
  /** Root of the API that clients use, without `/v1`. */
  readonly gatewayUrl: string;
  readonly gatewayAdminUrl: string;
  readonly audit: GatewayAudit;
  readonly series: SeriesSource;
  /** How it was seen last; its time is null before the first look. */
  seen(): { readonly atMs: number | null; readonly answer: Answer<Observation> };
  health(): ClusterSummary["health"];
  /** Engine seconds in a wall second; 1 until the cluster was seen. */
  timeScale(): number;
  /** Whether emulated engines deviate from the planner's model; true until the cluster was seen, and where engines are real. */
  deviates(): boolean;
  panic(): ClusterSummary["panic"];
  /** Its engines as last seen. */
  engines(): readonly Target[];
  /** null until the cluster was seen for the first time. */
  collector(): Collector | null;
  /** Ends looking; the cluster, its gateway and its engines run on. */
  close(): Promise<void>;
}

/** Every cluster that the studio is connected to. */
export interface Fleet {
  /** null: it is only described, unknown, or its connection cannot be used. */
  get(clusterId: string): ConnectedCluster | null;
  list(): readonly ConnectedCluster[];
  /** Why a kept connection cannot be used, in a sentence; null where it can, or there is none. */
  problem(clusterId: string): string | null;
  /** Begins to look after a cluster as the store holds it now; one that is connected already is let go of first. */
  connect(clusterId: string): Promise<Answer<ConnectedCluster>>;
  /** Lets go of a cluster; a gateway that runs beside the studio for it alone is ended. */
  disconnect(clusterId: string): Promise<void>;
  close(): Promise<void>;
}
