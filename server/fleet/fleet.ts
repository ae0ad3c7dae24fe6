import type { AdminClient } from "@/server/clusters/connector/adminClient";
import type { Answer, Connector, Observation } from "@/server/clusters/connector/connector";
import type { EngineHost } from "@/server/clusters/connector/engineHost";
import type { GatewayAudit } from "@/server/clusters/connector/gatewayAudit";
import type { ClusterSummary } from "@/server/contracts/studio";
import type { SeriesSource } from "@/server/series/seriesSource";
import type { Collector } from "@/server/telemetry/collector";
import type { Target } from "@/server/telemetry/engineTarget";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";

/** The emulated cluster that the studio runs. */
export const embeddedClusterId = "embedded";

/** A cluster that the studio watches: observed once a second, measured, and behind a gateway. */
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
  /** Its last observation; its time is null before the first look. */
  seen(): { readonly atMs: number | null; readonly answer: Answer<Observation> };
  health(): ClusterSummary["health"];
  /** Engine seconds per wall second; 1 until the cluster was observed. */
  timeScale(): number;
  /** Whether emulated engines deviate from the planner's model; true until the cluster was observed, and if engines are real. */
  deviates(): boolean;
  panic(): ClusterSummary["panic"];
  /** Its engines as last seen. */
  engines(): readonly Target[];
  /** null until the cluster was observed for the first time. */
  collector(): Collector | null;
  /** Stops watching; the cluster, its gateway and its engines continue. */
  close(): Promise<void>;
}

/** Every cluster that the studio is connected to. */
export interface Fleet {
  /** null: it is only described, unknown, or its connection cannot be used. */
  get(clusterId: string): ConnectedCluster | null;
  list(): readonly ConnectedCluster[];
  /** Why a stored connection cannot be used, in a sentence; null if it can, or there is none. */
  problem(clusterId: string): string | null;
  /** Starts to watch a cluster in its stored form; one that is already connected is disconnected first. */
  connect(clusterId: string): Promise<Answer<ConnectedCluster>>;
  /** Stops watching a cluster; a gateway that the studio runs for it alone is ended. */
  disconnect(clusterId: string): Promise<void>;
  close(): Promise<void>;
}
